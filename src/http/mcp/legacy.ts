import { WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/server';
import type { Ids } from '../../core/ids.ts';
import { isObject } from '../../core/json.ts';
import { type McpParts, mcpServer } from './server.ts';
import { jsonWhereItCan } from './single-answer.ts';
import type { Caller, Cancellable } from './tool-call.ts';

export interface LegacyParts extends McpParts {
  readonly ids: Ids;
}

const SESSION = 'mcp-session-id';

/**
 * Serves clients of the revisions before 2026-07-28, which begin with `initialize`. Nothing is kept between their
 * requests, but for one thing: they cancel a call by a second message. Where that shall end the run, clients get a
 * session, which is no more than a name, so that one is not taken for another. Only calls of this process hear of it.
 */
export function legacyDoor(parts: LegacyParts) {
  const calls = new Map<string, AbortController>();

  function cancellable(key: string): Cancellable {
    const call = new AbortController();
    calls.set(key, call);
    return { signal: call.signal, [Symbol.dispose]: () => void calls.delete(key) };
  }

  /** Undefined where messages cancel nothing. */
  function openerOf(message: unknown, { actor }: Caller, session: string | null) {
    if (!parts.cancel_on_disconnect || session === null || !isObject(message)) return undefined;
    const { method, id, params } = message;
    const keyOf = (request_id: unknown) => JSON.stringify([actor.principal, session, request_id]);
    if (method === 'notifications/cancelled' && isObject(params)) {
      calls.get(keyOf(params['requestId']))?.abort();
    }
    return () => cancellable(keyOf(id));
  }

  return async (request: Request, message: unknown, caller: Caller): Promise<Response> => {
    const openCall = openerOf(message, caller, request.headers.get(SESSION));
    const transport = new WebStandardStreamableHTTPServerTransport();
    const server = await mcpServer(parts, { ...caller, openCall }, request);
    await server.connect(transport);
    const stream = await transport.handleRequest(request, { parsedBody: message });
    // A batch, of 2025-03-26, has several answers.
    const response = Array.isArray(message) ? stream : await jsonWhereItCan(stream);
    const isFirst = isObject(message) && message['method'] === 'initialize';
    if (isFirst && parts.cancel_on_disconnect) response.headers.set(SESSION, parts.ids.uuid4());
    return response;
  };
}

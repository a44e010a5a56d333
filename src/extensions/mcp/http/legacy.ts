import { createHash } from 'node:crypto';
import { WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/server';
import type { Ids } from '../../../core/ids.ts';
import { isObject } from '../../../core/json.ts';
import { type McpServerDeps, mcpServer } from './server.ts';
import type { Caller, Cancellable } from './tool-call.ts';

export interface LegacyDeps extends McpServerDeps {
  readonly ids: Ids;
}

const SESSION = 'mcp-session-id';

/**
 * Serves clients of revisions before 2026-07-28, which begin with `initialize`. Requests are stateless, except for
 * cancellation, which arrives as a second message, at any process. If cancelling ends the run, clients get a session id
 * that tells their request ids apart.
 */
export function legacyHandler(parts: LegacyDeps) {
  const calls = new Map<string, AbortController>();
  // Never unsubscribed: the handler lives as long as the bus.
  parts.mcp.onCallCancelled((key) => calls.get(key)?.abort());

  function cancellable(key: string): Cancellable {
    const call = new AbortController();
    calls.set(key, call);
    return { signal: call.signal, [Symbol.dispose]: () => void calls.delete(key) };
  }

  /** Returns `undefined` if messages cannot cancel a call. */
  function cancellationFor(message: unknown, { actor }: Caller, session: string | null) {
    if (!parts.cancel_on_disconnect || session === null || !isObject(message)) return undefined;
    const { method, id, params } = message;
    const keyOf = (request_id: unknown) => hashOf([actor.principal, session, request_id]);
    if (method === 'notifications/cancelled' && isObject(params)) {
      parts.mcp.cancelCall(keyOf(params['requestId']));
    }
    return () => cancellable(keyOf(id));
  }

  return async (request: Request, message: unknown, caller: Caller): Promise<Response> => {
    const openCall = cancellationFor(message, caller, request.headers.get(SESSION));
    const transport = new WebStandardStreamableHTTPServerTransport();
    const server = await mcpServer(parts, { ...caller, openCall }, request);
    await server.connect(transport);
    const stream = await transport.handleRequest(request, { parsedBody: message });
    // A batch (revision 2025-03-26) has several responses.
    const response = Array.isArray(message) ? stream : await asJsonIfSingle(stream);
    const isFirst = isObject(message) && message['method'] === 'initialize';
    if (isFirst && parts.cancel_on_disconnect) response.headers.set(SESSION, parts.ids.uuid4());
    return response;
  };
}

/** Short, and silent about its parts: it travels to other processes. */
function hashOf(parts: readonly unknown[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('base64url');
}

/** End of a server-sent event, as the SDK writes it. */
const EVENT_END = '\n\n';
/** What the SDK sends first if the message takes its time. */
const KEEP_ALIVES = /^(?::[^\n]*\n\n)+/;

/**
 * Turns a stream that begins with its only response into plain JSON, like the official server. If a notification
 * (progress, a log message) comes first, it stays a stream. Both wait for the first event.
 */
export async function asJsonIfSingle(response: Response): Promise<Response> {
  if (!response.body || !response.headers.get('content-type')?.startsWith('text/event-stream'))
    return response;
  const [peeked, whole] = response.body.tee();
  const message = await firstMessage(peeked);
  if (message === undefined || 'method' in message) {
    return new Response(whole, { status: response.status, headers: response.headers });
  }
  await whole.cancel();
  return Response.json(message, { status: response.status });
}

/** Returns `undefined` if the stream ends without a message. */
async function firstMessage(stream: ReadableStream<Uint8Array>): Promise<object | undefined> {
  const reader = stream.pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  while (!text.includes(EVENT_END)) {
    const { done, value } = await reader.read();
    if (done) return undefined;
    text = (text + value).replace(KEEP_ALIVES, '');
  }
  await reader.cancel();
  const data = text
    .slice(0, text.indexOf(EVENT_END))
    .split('\n')
    .filter((line) => line.startsWith('data:'))
    .map((line) => line.slice('data:'.length));
  return JSON.parse(data.join('\n')) as object;
}

import { Readable } from 'node:stream';
import type { ReadableStream } from 'node:stream/web';
import {
  CLIENT_CAPABILITIES_META_KEY,
  createMcpHandler,
  isLegacyRequest,
  type McpRequestContext,
  PROTOCOL_VERSION_META_KEY,
} from '@modelcontextprotocol/server';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Actor } from '../../../auth/actor.ts';
import { InvalidInput, Unavailable } from '../../../core/errors.ts';
import { immediate } from '../../../core/event-loop.ts';
import { isObject } from '../../../core/json.ts';
import { traceOf } from '../../../http/plugins/auth.ts';
import { problemOfSize } from '../../../http/plugins/validation.ts';
import { publicUrl } from '../../../http/public-url.ts';
import type { RunReplies } from '../../../http/run-replies.ts';
import type { ParsedJson } from '../../../http/secure-json.ts';
import { McpBatchBounds, McpBounds } from '../schemas.ts';
import { withKeepAlive } from './keep-alive.ts';
import { type LegacyDeps, legacyHandler } from './legacy.ts';
import { mcpServer } from './server.ts';
import type { Caller } from './tool-call.ts';

export interface McpHandlerDeps extends LegacyDeps {
  /** Largest message, bytes. */
  readonly body_limit: number;
  readonly replies: Pick<RunReplies, 'callers'>;
}

/** Opens an endless stream, which has no response that could carry an error. */
const LISTEN = 'subscriptions/listen';

/** Serves MCP messages. */
export interface McpHandler {
  /** Ends open streams. */
  close(): Promise<void>;
  serve(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply>;
}

/** Serves clients of all protocol revisions. Stateless: each request has its own MCP server. */
export function createMcpRequestHandler(parts: McpHandlerDeps): McpHandler {
  const factory = async ({ authInfo, requestInfo }: McpRequestContext) => {
    const { caller, onFailure } = (authInfo?.extra ?? {}) as unknown as Served;
    try {
      return await mcpServer(parts, caller, requestInfo as Request, caller.actor.protocol?.version);
    } catch (error) {
      onFailure(error);
      throw error;
    }
  };
  const modern = createMcpHandler(factory, {
    legacy: 'reject',
    maxRequestBodySize: parts.body_limit,
    bus: {
      publish: () => {},
      subscribe(listener) {
        const listening = parts.mcp.onToolsChanged(() => listener({ kind: 'tools_list_changed' }));
        return () => listening[Symbol.dispose]();
      },
    },
    onerror: (error) => parts.logger.debug('MCP message rejected', { error }),
  });
  const legacy = legacyHandler(parts);
  const open = new Set<AbortController>();
  let closed: Unavailable | undefined;

  return {
    async close() {
      // Their runs continue elsewhere. The SDK would abort the calls, as if the clients had disconnected, and answer nothing.
      closed = new Unavailable('The server is shutting down.');
      for (const call of open) call.abort(closed);
      await immediate();
      await modern.close();
    },

    async serve(incoming, reply) {
      const disconnected = new AbortController();
      reply.raw.once('close', () => disconnected.abort());
      const text = typeof incoming.body === 'string' ? incoming.body : '';
      const json = await messageIn(incoming, text);
      if ('refused' in json) return reply.code(400).send(invalidRequest(json.refused));
      // Passed on as parsed, so that the SDK does not parse twice. It reports invalid JSON by itself.
      const message = 'value' in json ? json.value : undefined;
      const problem = problemOfSize(Array.isArray(message) ? McpBatchBounds : McpBounds, message);
      if (problem !== undefined) return reply.code(400).send(invalidRequest(problem));
      const request = webRequest(incoming, text, disconnected.signal);
      const refused = new AbortController();
      const watch = parts.replies.callers.watch(incoming, (error) =>
        isListening(message) ? disconnected.abort() : refused.abort(error),
      );
      if (closed) refused.abort(closed);
      else open.add(refused);
      const stopWatching = () => {
        watch[Symbol.dispose]();
        open.delete(refused);
      };
      // The client may have disconnected while its message was parsed.
      if (disconnected.signal.aborted) stopWatching();
      else reply.raw.once('close', stopWatching);
      const caller = callerOf(incoming, message, refused.signal);
      const answer = (await isLegacyRequest(request, message))
        ? legacy(request, message, caller)
        : serveModern(request, message, caller);
      const handled = answer.catch((error: unknown) => unavailable(error, message));
      const takesStreams = incoming.headers.accept?.includes('text/event-stream');
      return send(reply, await (takesStreams ? withKeepAlive(handled) : handled));
    },
  };

  /** Rejects with the error that kept the request's server from being created, which the SDK would hide. */
  async function serveModern(request: Request, message: unknown, caller: Caller): Promise<Response> {
    let failure: unknown;
    const onFailure = (error: unknown) => {
      failure = error;
    };
    const authInfo = authInfoOf({ caller, onFailure });
    const response = await modern.fetch(request, { authInfo, parsedBody: message });
    if (failure instanceof Unavailable) throw failure;
    return response;
  }
}

function isListening(message: unknown): boolean {
  return isObject(message) && message['method'] === LISTEN;
}

/** What `factory` receives through the SDK's `authInfo`. */
interface Served {
  readonly caller: Caller;
  readonly onFailure: (error: unknown) => void;
}

/** The SDK passes this through; the caller is already authenticated. */
function authInfoOf(served: Served) {
  const clientId = served.caller.actor.user?.identity ?? '';
  return { token: '', clientId, scopes: [], extra: { ...served } };
}

/** The response when the server cannot serve right now, such as when the project's tools do not answer. */
function unavailable(error: unknown, message: unknown): Response {
  if (!(error instanceof Unavailable)) throw error;
  const id = isObject(message) ? (message['id'] ?? null) : null;
  const body = { jsonrpc: '2.0', id, error: { code: -32603, message: error.message } };
  return Response.json(body, { status: error.status, headers: { ...error.headers } });
}

function callerOf(
  { actor, params, headers }: FastifyRequest,
  message: unknown,
  refused: AbortSignal,
): Caller {
  const thread = headers['x-thread-id'];
  return {
    actor: {
      ...actor,
      trace: traceOf(metaOf(message)) ?? actor.trace,
      protocol: protocolOf(message, headers['mcp-protocol-version']),
    },
    assistant_id: (params as { assistant_id?: string }).assistant_id,
    tool_name: toolCalledBy(message),
    refused,
    thread: typeof thread === 'string' && thread !== '' ? thread : undefined,
  };
}

function toolCalledBy(message: unknown): string | undefined {
  if (!isObject(message) || message['method'] !== 'tools/call' || !isObject(message['params']))
    return undefined;
  const { name } = message['params'];
  return typeof name === 'string' ? name : undefined;
}

function metaOf(message: unknown): Record<string, unknown> {
  const params = isObject(message) && isObject(message['params']) ? message['params'] : {};
  return isObject(params['_meta']) ? params['_meta'] : {};
}

function protocolOf(message: unknown, header: unknown): NonNullable<Actor['protocol']> {
  const meta = metaOf(message);
  const version = meta[PROTOCOL_VERSION_META_KEY] ?? header;
  return {
    name: 'mcp',
    version: typeof version === 'string' ? version : '2025-03-26',
    client_capabilities: meta[CLIENT_CAPABILITIES_META_KEY] ?? {},
  };
}

async function messageIn(
  { server }: FastifyRequest,
  text: string,
): Promise<ParsedJson | { readonly refused: string }> {
  try {
    return await server.bodies.json(text);
  } catch (error) {
    if (error instanceof InvalidInput) return { refused: error.message };
    throw error;
  }
}

function invalidRequest(message: string) {
  return { jsonrpc: '2.0', id: null, error: { code: -32600, message } };
}

function webRequest(request: FastifyRequest, body: string, signal: AbortSignal): Request {
  const { raw } = request;
  const headers = new Headers();
  for (const [name, value] of Object.entries(raw.headers)) {
    if (value !== undefined) headers.set(name, Array.isArray(value) ? value.join(', ') : value);
  }
  // Also serve clients that accept only one of the two types, or send no header.
  headers.set('accept', 'application/json, text/event-stream');
  headers.delete('content-length');
  const url = new URL(raw.url ?? '/', publicUrl(request) ?? 'http://localhost');
  return new Request(url, { method: 'POST', headers, body, signal });
}

function send(reply: FastifyReply, response: Response): FastifyReply {
  reply.code(response.status);
  response.headers.forEach((value, name) => {
    reply.header(name, value);
  });
  return response.body
    ? reply.send(Readable.fromWeb(response.body as ReadableStream))
    : reply.send(response.status === 202 ? undefined : '');
}

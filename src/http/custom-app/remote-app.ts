import type { IncomingHttpHeaders } from 'node:http';
import { finished, Readable } from 'node:stream';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import {
  handleInternalCall,
  type InternalCall,
  type InternalResponse,
  internalRequestOf,
} from '../in-process.ts';
import { publicUrl } from '../public-url.ts';
import type { CallerContext } from './adapters.ts';
import type { CustomRoute } from './routes.ts';
import { sendFromHook } from './send-from-hook.ts';

/** A custom app in another process. */
export interface RemoteApp {
  /** Handler type of the app: determines how bodies and responses are treated. */
  readonly kind: 'fetch' | 'handle';
  readonly routes: readonly CustomRoute[];
  /**
   * Resolves when the response begins. Rejects with the app's error, or with `Unavailable` if its process has
   * died or is blocked.
   */
  send(request: RemoteRequest): Promise<RemoteResponse>;
  close(): Promise<void>;
}

/** A request to a remote app. */
export interface RemoteRequest {
  readonly method: string;
  /** Path and query, without the mount prefix. */
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Readable | undefined;
  /** Public origin of the server. */
  readonly origin: string;
  readonly remote_address: string | undefined;
  readonly auth: CallerContext | undefined;
  readonly has_server_route: boolean;
  /** Aborts when the response is closed: it was sent, or the client disconnected. */
  readonly signal: AbortSignal;
  /** Forwards a request to the server's own routes. */
  forward(call: InternalCall): Promise<InternalResponse>;
}

/** A response of the app, or of the server's own routes. */
export interface RemoteResponse {
  readonly status: number;
  readonly status_text?: string | undefined;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Readable | undefined;
  /** Complete when the body has ended. */
  readonly trailers?: () => NodeJS.Dict<string>;
}

export interface RemoteAppOptions {
  /** The path that the app sees. */
  readonly path: string;
  readonly auth: CallerContext | undefined;
  readonly mount_prefix: string;
}

/** Forwards a request to the app, and its response to the client. Throws what `RemoteApp.send` throws. */
export async function answerRemotely(
  server: FastifyInstance,
  app: RemoteApp,
  reply: FastifyReply,
  { path, auth, mount_prefix }: RemoteAppOptions,
): Promise<FastifyReply> {
  const { request } = reply;
  const { raw, method } = request;
  const gone = new AbortController();
  reply.raw.once('close', () => gone.abort());
  // A webhook must not reach the server's own routes with the server's identity.
  const isPassedOn = internalRequestOf(raw) === undefined;
  try {
    const response = await app.send({
      method,
      path,
      headers: raw.headers,
      body: bodyOf(server, request, app.kind),
      origin: publicUrl(request) ?? 'http://localhost',
      remote_address: raw.socket.remoteAddress,
      auth,
      has_server_route: !request.is404,
      signal: gone.signal,
      async forward(call) {
        if (!isPassedOn) return NOT_FOUND;
        return handleInternalCall(server, { ...call, path: mount_prefix + call.path }, { from: request });
      },
    });
    return app.kind === 'fetch' ? sendByFastify(reply, response) : sendRaw(reply, response, gone.signal);
  } catch (error) {
    if (gone.signal.aborted) return reply.hijack();
    throw error;
  }
}

const NOT_FOUND: InternalResponse = {
  status: 404,
  headers: [['content-type', 'application/json']],
  get body() {
    return Readable.from([Buffer.from('{"detail":"Not Found"}')]);
  },
};

/** A `fetch` app gets bodies up to the server's limit; a Node-style handler limits them itself. */
function bodyOf(server: FastifyInstance, request: FastifyRequest, kind: RemoteApp['kind']) {
  const { 'content-length': length = '0', 'transfer-encoding': encoding } = request.headers;
  if (length === '0' && encoding === undefined) return undefined;
  return kind === 'fetch' ? server.bodies.limited(request, request.raw) : request.raw;
}

function sendByFastify(reply: FastifyReply, { status, headers, body }: RemoteResponse): Promise<never> {
  reply.code(status).headers({ ...headers });
  // On HEAD, Fastify computes the length of a body that it does not send.
  return sendFromHook(reply, reply.request.method === 'HEAD' ? '' : body);
}

/**
 * Writes the response as the handler would: bypasses Fastify's reply, but keeps the headers set on it so far.
 */
function sendRaw(
  reply: FastifyReply,
  { status, status_text, headers, body, trailers }: RemoteResponse,
  gone: AbortSignal,
): FastifyReply {
  const { raw } = reply;
  for (const [name, value] of Object.entries({ ...reply.getHeaders(), ...headers })) {
    if (value !== undefined) raw.setHeader(name, value);
  }
  raw.statusCode = status;
  if (status_text) raw.statusMessage = status_text;
  reply.hijack();
  if (!body) {
    raw.end();
    return reply;
  }
  if (trailers) body.once('end', () => raw.addTrailers(Object.entries(trailers()) as [string, string][]));
  gone.addEventListener('abort', () => body.destroy(), { once: true });
  // Unlike a listener, `finished` also reports a failure that has already happened.
  finished(body, (error) => error && raw.destroy());
  body.pipe(raw);
  // Flush the headers of an event stream, but not at once: a short body shares their packet.
  setImmediate(() => {
    if (!raw.writableEnded && !raw.destroyed) raw.flushHeaders();
  });
  return reply;
}

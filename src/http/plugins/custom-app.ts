import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { NotFound } from '../../core/errors.ts';
import type { CallerContext, CustomApp, NodeHandler } from '../custom-app/adapters.ts';
import { handleInProcess, internalRequestOf } from '../in-process.ts';
import { publicUrl } from '../public-url.ts';
import type { AuthHook } from './auth.ts';

export interface CustomAppOptions {
  readonly app: CustomApp;
  readonly mount_prefix: string;
  /** Asks for who sends a request to the app's routes too. */
  readonly enable_custom_route_auth: boolean;
  readonly authenticate: AuthHook;
}

/**
 * Lets the project's own app answer first. It is where it is registered: before or after authentication
 * (`http.middleware_order`).
 */
export function useCustomApp(server: FastifyInstance, options: CustomAppOptions): void {
  const { app, mount_prefix, enable_custom_route_auth, authenticate } = options;
  server.addHook('onRequest', async (request, reply) => {
    const passage = internalRequestOf(request.raw);
    // WebSockets are the server's own; what the app let through has been there.
    if (passage?.from || request.ws || !hasPrefix(mount_prefix, request.url)) return;
    const requiresAuth = enable_custom_route_auth && request.is404 && !passage;
    if (requiresAuth) await authenticate(request);
    if ('fetch' in app)
      return sendResponse(reply, await callFetchApp(server, app.fetch, request, reply, options));
    if (await callNodeHandler(app.handle, request, reply, mount_prefix)) return reply.hijack();
    if (passage) throw new NotFound('Not Found');
    // Behind the app, every address asks who is there.
    await authenticate(request);
  });
  if ('fetch' in app) return;
  server.addHook('preParsing', async ({ raw }, _reply, payload) => replayParsedBody(raw, payload));
  server.addHook('onClose', async () => {
    await app.close?.();
  });
}

/** Fastify measures the body that it does not send to a HEAD, and knows texts and streams only. */
function sendResponse(reply: FastifyReply, response: Response): FastifyReply {
  if (reply.request.method !== 'HEAD') return reply.send(response);
  return reply.code(response.status).headers(Object.fromEntries(response.headers)).send('');
}

function hasPrefix(prefix: string, url: string): boolean {
  return url.startsWith(prefix) && /^(?:[/?]|$)/.test(url.slice(prefix.length));
}

async function callFetchApp(
  server: FastifyInstance,
  fetch: Extract<CustomApp, { fetch: unknown }>['fetch'],
  request: FastifyRequest,
  reply: FastifyReply,
  { mount_prefix }: CustomAppOptions,
): Promise<Response> {
  const { method, url, raw } = request;
  const gone = new AbortController();
  reply.raw.once('close', () => gone.abort());
  const hasBody = method !== 'GET' && method !== 'HEAD';
  const origin = publicUrl(request) ?? 'http://localhost';
  const webRequest = new Request(origin + withoutPrefix(mount_prefix, url), {
    method,
    headers: headerList(raw),
    signal: gone.signal,
    ...(hasBody ? { body: await server.bodies.read(request, raw) } : {}),
  });
  const isPassedOn = internalRequestOf(raw) === undefined;
  return await fetch(webRequest, {
    auth: callerOf(request),
    has_server_route: !request.is404,
    async forward(onward) {
      // A webhook is for the project's routes, not for ours in the server's name.
      if (!isPassedOn) return Response.json({ detail: 'Not Found' }, { status: 404 });
      // The request inside counts it again.
      server.bodies.release(request);
      const { origin: start, pathname, search } = new URL(onward.url);
      const ours = new Request(start + mount_prefix + pathname + search, onward);
      return handleInProcess(server, ours, { from: request });
    },
  });
}

/** True when the handler answered; then it has the connection. */
async function callNodeHandler(
  handle: NodeHandler,
  request: FastifyRequest,
  reply: FastifyReply,
  mount_prefix: string,
): Promise<boolean> {
  const { raw } = request;
  const { url } = raw;
  Object.assign(raw, { url: withoutPrefix(mount_prefix, request.url), auth: callerOf(request) });
  // It writes to the connection itself, and those of CORS belong to its answers too.
  for (const [name, value] of Object.entries(reply.getHeaders())) {
    if (value !== undefined) reply.raw.setHeader(name, value);
  }
  const isAnswered = await new Promise<boolean>((resolve, reject) => {
    reply.raw.once('close', () => resolve(true));
    const next = (error?: unknown) =>
      error === undefined || error === null ? resolve(false) : reject(error);
    Promise.resolve(handle(raw, reply.raw, next)).catch(reject);
  });
  raw.url = url;
  return isAnswered;
}

function withoutPrefix(prefix: string, url: string): string {
  const rest = url.slice(prefix.length);
  return rest.startsWith('/') ? rest : `/${rest}`;
}

function headerList({ headers }: IncomingMessage): [string, string][] {
  return Object.entries(headers).flatMap(([name, value]) =>
    [value ?? []].flat().map((each): [string, string] => [name, each]),
  );
}

/** What a body parser of the app has read is there for us as well. */
function replayParsedBody(raw: IncomingMessage & { body?: unknown }, payload: Readable): Readable {
  if (!raw.readableEnded || raw.body === undefined) return payload;
  const text = typeof raw.body === 'string' ? raw.body : JSON.stringify(raw.body);
  const length = Number(raw.headers['content-length'] ?? Buffer.byteLength(text));
  return Object.assign(Readable.from([Buffer.from(text)]), { receivedEncodedLength: length });
}

function callerOf({ actor }: FastifyRequest): CallerContext | undefined {
  return actor?.user ? { user: actor.user, scopes: actor.user.permissions } : undefined;
}

import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { NotFound } from '../../core/errors.ts';
import {
  type CallerContext,
  consumedBody,
  headerList,
  type LocalApp,
  type NodeHandler,
} from '../custom-app/adapters.ts';
import { answerRemotely, type RemoteApp } from '../custom-app/remote-app.ts';
import { sendFromHook } from '../custom-app/send-from-hook.ts';
import { handleInProcess, internalRequestOf } from '../in-process.ts';
import { prefixOf, withoutPrefix } from '../mount-prefix.ts';
import { publicUrl } from '../public-url.ts';
import type { AuthHook } from './auth.ts';
import { isProbe } from './rate-limit.ts';

/** The custom app (`http.app`). */
export type CustomApp = LocalApp | RemoteApp;

export interface CustomAppOptions {
  readonly app: CustomApp;
  /** Mount prefixes of the server's routes. */
  readonly prefixes: readonly string[];
  /** Requires authentication for custom routes, too. */
  readonly enable_custom_route_auth: boolean;
  readonly authenticate: AuthHook;
}

/**
 * Gives the custom app precedence over the server's routes. The place of registration decides whether it runs before or
 * after authentication (`http.middleware_order`).
 */
export function useCustomApp(server: FastifyInstance, options: CustomAppOptions): void {
  const { app, prefixes, enable_custom_route_auth, authenticate } = options;
  server.addHook('onRequest', async (request, reply) => {
    const internal = internalRequestOf(request.raw);
    // WebSockets bypass the app; a request that the app forwarded has already been through it.
    if (internal?.from || request.ws) return;
    const mount_prefix = prefixOf(prefixes, request.url);
    if (mount_prefix === undefined) {
      // A webhook has the server's identity.
      if (internal) throw new NotFound('Not Found');
      return;
    }
    // Probes ask for this process, not for the app's.
    if ('send' in app && isProbe(request)) return;
    const requiresAuth = enable_custom_route_auth && request.is404 && !internal;
    if (requiresAuth) await authenticate(request);
    if ('send' in app) {
      const path = withoutPrefix(mount_prefix, request.url);
      return answerRemotely(server, app, reply, { path, auth: callerOf(request), mount_prefix });
    }
    if ('fetch' in app)
      return sendResponse(reply, await callFetchApp(server, app.fetch, request, reply, mount_prefix));
    if (await callNodeHandler(app.handle, request, reply, mount_prefix)) return reply.hijack();
    if (internal) throw new NotFound('Not Found');
    // Past the app, every path requires authentication.
    await authenticate(request);
  });
  if ('fetch' in app) return;
  if ('handle' in app)
    server.addHook('preParsing', async ({ raw }, _reply, payload) => replayParsedBody(raw, payload));
  server.addHook('onClose', async () => {
    await app.close?.();
  });
}

/** On HEAD, Fastify computes the length of a body that it does not send, and supports strings and streams only. */
function sendResponse(reply: FastifyReply, response: Response): Promise<never> {
  if (reply.request.method !== 'HEAD') return sendFromHook(reply, response);
  return sendFromHook(reply.code(response.status).headers(Object.fromEntries(response.headers)), '');
}

async function callFetchApp(
  server: FastifyInstance,
  fetch: Extract<LocalApp, { fetch: unknown }>['fetch'],
  request: FastifyRequest,
  reply: FastifyReply,
  mount_prefix: string,
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
      // A webhook must not reach the server's own routes with the server's identity.
      if (!isPassedOn) return Response.json({ detail: 'Not Found' }, { status: 404 });
      // The forwarded request is counted again.
      server.bodies.release(request);
      const { origin: start, pathname, search } = new URL(onward.url);
      const ours = new Request(start + mount_prefix + pathname + search, onward);
      return handleInProcess(server, ours, { from: request });
    },
  });
}

/** Resolves to true if the handler answered; it then owns the connection. */
async function callNodeHandler(
  handle: NodeHandler,
  request: FastifyRequest,
  reply: FastifyReply,
  mount_prefix: string,
): Promise<boolean> {
  const { raw } = request;
  const { url } = raw;
  Object.assign(raw, { url: withoutPrefix(mount_prefix, request.url), auth: callerOf(request) });
  // The handler bypasses Fastify's reply, so copy its headers (such as CORS) first.
  for (const [name, value] of Object.entries(reply.getHeaders())) {
    if (value !== undefined) reply.raw.setHeader(name, value);
  }
  const isHandled = await new Promise<boolean>((resolve, reject) => {
    reply.raw.once('close', () => resolve(true));
    const next = (error?: unknown) =>
      error === undefined || error === null ? resolve(false) : reject(error);
    Promise.resolve(handle(raw, reply.raw, next)).catch(reject);
  });
  raw.url = url;
  return isHandled;
}

/** Replays a body that the app's parser has already consumed. */
function replayParsedBody(raw: IncomingMessage, payload: Readable): Readable {
  const body = consumedBody(raw);
  if (!body) return payload;
  const length = Number(raw.headers['content-length'] ?? body.length);
  return Object.assign(Readable.from([body]), { receivedEncodedLength: length });
}

function callerOf({ actor }: FastifyRequest): CallerContext | undefined {
  return actor?.user ? { user: actor.user, scopes: actor.user.permissions } : undefined;
}

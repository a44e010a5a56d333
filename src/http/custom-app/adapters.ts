import type { IncomingMessage, ServerResponse } from 'node:http';
import type { FastifyInstance, FastifyPluginAsync } from 'fastify';
import { type CustomRoute, expressRoutes, honoRoutes, routeOf } from './routes.ts';

/** The caller, in the form in which the official server passes it to custom routes. */
export interface CallerContext {
  readonly user: unknown;
  readonly scopes: readonly string[];
}

/** Context that a `fetch` app receives with the request. */
export interface FetchContext {
  /** Undefined without authentication. */
  readonly auth: CallerContext | undefined;
  /** Whether the server has a route for this request. */
  readonly has_server_route: boolean;
  /** Forwards a request to the server's own routes. */
  forward(request: Request): Promise<Response>;
}

/** The subset of Hono in use, typed structurally: the project has its own copy of the package. */
export interface HonoApp {
  readonly routes: readonly unknown[];
  route(path: string, app: HonoApp): HonoApp;
  use(handler: HonoHandler): HonoApp;
  notFound(handler: HonoHandler): HonoApp;
  fetch(request: Request, env: FetchContext): Response | Promise<Response>;
}

type HonoHandler = (context: HonoContext, next: () => Promise<void>) => unknown;

interface HonoContext {
  readonly env: FetchContext;
  readonly req: {
    readonly raw: Request;
    /** The parsed body, keyed by the parser that read it. */
    readonly bodyCache: Readonly<Record<string, unknown>>;
  };
  set(name: 'auth', value: CallerContext): void;
}

function isHono(app: unknown): boolean {
  return (
    ['route', 'use', 'notFound', 'fetch'].every((name) => hasMethod(app, name)) && 'routes' in Object(app)
  );
}

function hasMethod<const Name extends string>(
  app: unknown,
  name: Name,
): app is Record<Name, (...args: unknown[]) => unknown> {
  return (
    typeof app === 'object' && app !== null && typeof (app as Record<string, unknown>)[name] === 'function'
  );
}

/**
 * Mounts the server's routes behind the app, so that its middleware wraps them and unmatched requests fall through. The
 * app's own 404 page is never sent, as in the official server.
 */
function adaptHono(app: HonoApp): (request: Request, context: FetchContext) => Promise<Response> {
  const Hono = app.constructor as new () => HonoApp;
  const outer = new Hono();
  outer.use(async (context, next) => {
    if (context.env.auth) context.set('auth', context.env.auth);
    await next();
  });
  outer.route('/', app);
  outer.notFound(async (context) => context.env.forward(await withUnreadBody(context)));
  return async (request, context) => outer.fetch(request, context);
}

/** Rebuilds the request with its body, which middleware may have consumed. */
async function withUnreadBody({ req: { raw, bodyCache } }: HonoContext): Promise<Request> {
  if (!raw.bodyUsed) return raw;
  const [form] = Object.keys(bodyCache);
  const body = form === undefined ? undefined : await bodyCache[form];
  const { method, headers, signal } = raw;
  const bytes =
    form === 'json' ? JSON.stringify(body) : (body as ArrayBuffer | string | FormData | undefined);
  return new Request(raw.url, { method, headers, signal, ...(bytes === undefined ? {} : { body: bytes }) });
}

/** Request headers as a list of pairs, for a `fetch` app. */
export function headerList({ headers }: IncomingMessage): [string, string][] {
  return Object.entries(headers).flatMap(([name, value]) =>
    [value ?? []].flat().map((each): [string, string] => [name, each]),
  );
}

/** Express-style handler: calls `next` for a request that it does not serve. */
export type NodeHandler = (
  request: IncomingMessage,
  response: ServerResponse,
  next: (error?: unknown) => void,
) => unknown;

/** The custom app (`http.app`) in this process, as one of two handler types. */
export type LocalApp = (
  | { readonly fetch: (request: Request, context: FetchContext) => Promise<Response> }
  | { readonly handle: NodeHandler; readonly close?: () => Promise<unknown> }
) & {
  /** Routes that the app exposes; a plain function exposes none. */
  readonly routes: readonly CustomRoute[];
};

/** A body that the handler's parser has consumed; undefined if it is unread. */
export function consumedBody(raw: IncomingMessage & { body?: unknown }): Buffer | undefined {
  if (!raw.readableEnded || raw.body === undefined) return undefined;
  return Buffer.from(typeof raw.body === 'string' ? raw.body : JSON.stringify(raw.body));
}

/**
 * Detects by duck typing what the project exports: a Hono app, an object with `fetch(request)`, a Fastify plugin, an
 * Express-style handler, or a function like `fetch`. Throws an `Error` that names these for anything else.
 */
export async function adaptCustomApp(exported: unknown): Promise<LocalApp> {
  const app = await exported;
  if (isHono(app)) {
    const hono = app as HonoApp;
    return { fetch: adaptHono(hono), routes: honoRoutes(hono.routes) };
  }
  if (hasMethod(app, 'fetch'))
    return { fetch: fallThroughOn404((request, env) => app.fetch(request, env)), routes: [] };
  if (typeof app === 'function') {
    if (isFastifyPlugin(app)) return fastifyApp(app as FastifyPluginAsync);
    // An Express app is a function of this arity, too.
    if (app.length >= 3) return { handle: app as NodeHandler, routes: expressRoutes(app) };
    return { fetch: fallThroughOn404(app as FetchFunction), routes: [] };
  }
  throw new Error(
    'must be one of: a Hono app, an object with fetch(request), a function (request) => Response, a Fastify plugin, (req, res, next)',
  );
}

type FetchFunction = (request: Request, env: { auth: CallerContext | undefined }) => unknown;

/** Without middleware, 404 is the only sign that the app has no route for a path that the server has. */
function fallThroughOn404(answer: FetchFunction) {
  return async (request: Request, { auth, has_server_route, forward }: FetchContext): Promise<Response> => {
    // A clone holds the whole body. Without a server route the response does not depend on the body, so skip
    // the clone.
    const { url, method, headers, signal } = request;
    const untouched = has_server_route ? request.clone() : new Request(url, { method, headers, signal });
    const response = (await answer(request, { auth })) as Response | undefined;
    if (response && (response.status !== 404 || !has_server_route)) return response;
    return forward(untouched);
  };
}

/** Marked by `fastify-plugin`, or of the arity of an async plugin: 2. */
function isFastifyPlugin(app: object): boolean {
  const isMarked = Symbol.for('skip-override') in app || Symbol.for('plugin-meta') in app;
  return isMarked || (app as { length: number }).length === 2;
}

/** Runs the plugin in its own Fastify instance, isolated from this server's hooks and decorators. */
async function fastifyApp(plugin: FastifyPluginAsync): Promise<LocalApp> {
  // Imported lazily: few graph hosts have such a plugin.
  const { fastify } = await import('fastify');
  const instance: FastifyInstance = fastify({ routerOptions: { maxParamLength: 1024 } });
  const fallThrough = new WeakMap<IncomingMessage, () => void>();
  const routes: CustomRoute[] = [];
  instance.addHook('onRoute', ({ method, url }) => {
    const found = [method].flat().map((each) => routeOf(each, url));
    routes.push(...found.filter((route) => route !== undefined));
  });
  await instance.register(plugin);
  instance.addHook('onRequest', async (request, reply) => {
    if (!request.is404) return;
    reply.hijack();
    fallThrough.get(request.raw)?.();
  });
  instance.setNotFoundHandler(() => undefined);
  await instance.ready();
  return {
    handle(request, response, next) {
      fallThrough.set(request, next);
      instance.routing(request, response);
    },
    close: () => instance.close(),
    routes: routes.filter(({ method }) => method !== 'HEAD'),
  };
}

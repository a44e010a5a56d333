import type { IncomingMessage, ServerResponse } from 'node:http';
import { type FastifyInstance, type FastifyPluginAsync, fastify } from 'fastify';
import { type CustomRoute, expressRoutes, honoRoutes, routeOf } from './routes.ts';

/** Who sends a request, as the official server tells the project's own routes. */
export interface CallerContext {
  readonly user: unknown;
  readonly scopes: readonly string[];
}

/** What an app made for `fetch` may need beside the request. */
export interface FetchContext {
  /** Undefined without authentication. */
  readonly auth: CallerContext | undefined;
  /** The server has a route for this request. */
  readonly has_server_route: boolean;
  /** Has a request answered by the server's own routes. */
  forward(request: Request): Promise<Response>;
}

/** As much of a Hono app as is needed: the project has its own copy of the package. */
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
    /** What was read of the body, by the form it was read in. */
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
 * Our routes stand behind the app's, so that its middleware is around them too, and what it has no route for is ours.
 * Its own page for what is not found is never shown, as with the official server.
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

/** The request with its body, which middleware may have read. */
async function withUnreadBody({ req: { raw, bodyCache } }: HonoContext): Promise<Request> {
  if (!raw.bodyUsed) return raw;
  const [form] = Object.keys(bodyCache);
  const body = form === undefined ? undefined : await bodyCache[form];
  const { method, headers, signal } = raw;
  const bytes =
    form === 'json' ? JSON.stringify(body) : (body as ArrayBuffer | string | FormData | undefined);
  return new Request(raw.url, { method, headers, signal, ...(bytes === undefined ? {} : { body: bytes }) });
}

/** As Express has it. What it does not answer it hands on. */
export type NodeHandler = (
  request: IncomingMessage,
  response: ServerResponse,
  next: (error?: unknown) => void,
) => unknown;

/** The project's own app (`http.app`), in one of the two ways there are to answer a request. */
export type CustomApp = (
  | { readonly fetch: (request: Request, context: FetchContext) => Promise<Response> }
  | { readonly handle: NodeHandler; readonly close?: () => Promise<unknown> }
) & {
  /** Those that the app tells of itself; a function has none to tell. */
  readonly routes: readonly CustomRoute[];
};

/**
 * Tells by its shape what the project exports: a Hono app, anything with `fetch(request)`, a Fastify plugin, a handler
 * as Express has it, or a function like `fetch`. Throws an `Error` that names these for anything else.
 */
export async function adaptCustomApp(exported: unknown): Promise<CustomApp> {
  const app = await exported;
  if (isHono(app)) {
    const hono = app as HonoApp;
    return { fetch: adaptHono(hono), routes: honoRoutes(hono.routes) };
  }
  if (hasMethod(app, 'fetch'))
    return { fetch: fallThroughOn404((request, env) => app.fetch(request, env)), routes: [] };
  if (typeof app === 'function') {
    if (isFastifyPlugin(app)) return fastifyApp(app as FastifyPluginAsync);
    // Express' own app is a function of this kind too.
    if (app.length >= 3) return { handle: app as NodeHandler, routes: expressRoutes(app) };
    return { fetch: fallThroughOn404(app as FetchFunction), routes: [] };
  }
  throw new Error(
    'must be one of: a Hono app, an object with fetch(request), a function (request) => Response, a Fastify plugin, (req, res, next)',
  );
}

type FetchFunction = (request: Request, env: { auth: CallerContext | undefined }) => unknown;

/** Without middleware there is no other sign than 404 that an app has no route for an address that is ours. */
function fallThroughOn404(answer: FetchFunction) {
  return async (request: Request, { auth, has_server_route, forward }: FetchContext): Promise<Response> => {
    const untouched = request.clone();
    const response = (await answer(request, { auth })) as Response | undefined;
    if (response && (response.status !== 404 || !has_server_route)) return response;
    return forward(untouched);
  };
}

/** Marked by `fastify-plugin`, or with the two parameters of a plugin that is a promise. */
function isFastifyPlugin(app: object): boolean {
  const isMarked = Symbol.for('skip-override') in app || Symbol.for('plugin-meta') in app;
  return isMarked || (app as { length: number }).length === 2;
}

/** In an instance of its own, so that it finds the framework's defaults, and none of our rules and names. */
async function fastifyApp(plugin: FastifyPluginAsync): Promise<CustomApp> {
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

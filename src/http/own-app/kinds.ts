import type { IncomingMessage, ServerResponse } from 'node:http';
import { type FastifyInstance, type FastifyPluginAsync, fastify } from 'fastify';
import type { CallerContext, FetchContext } from './context.ts';
import { type HonoApp, hasMethod, honoAround, isHono } from './hono.ts';
import { expressRoutes, honoRoutes, type OwnRoute, routeOf } from './routes.ts';

/** As Express has it. What it does not answer it hands on. */
export type NodeHandler = (
  request: IncomingMessage,
  response: ServerResponse,
  next: (error?: unknown) => void,
) => unknown;

/** The project's own app (`http.app`), in one of the two ways there are to answer a request. */
export type OwnApp = (
  | { readonly fetch: (request: Request, context: FetchContext) => Promise<Response> }
  | { readonly handle: NodeHandler; readonly close?: () => Promise<unknown> }
) & {
  /** Those that the app tells of itself; a function has none to tell. */
  readonly routes: readonly OwnRoute[];
};

/**
 * Tells by its shape what the project exports: a Hono app, anything with `fetch(request)`, a Fastify plugin, a handler
 * as Express has it, or a function like `fetch`. Throws an `Error` that names these for anything else.
 */
export async function ownAppOf(exported: unknown): Promise<OwnApp> {
  const app = await exported;
  if (isHono(app)) {
    const hono = app as HonoApp;
    return { fetch: honoAround(hono), routes: honoRoutes(hono.routes) };
  }
  if (hasMethod(app, 'fetch'))
    return { fetch: orOurs((request, env) => app.fetch(request, env)), routes: [] };
  if (typeof app === 'function') {
    if (isFastifyPlugin(app)) return fastifyApp(app as FastifyPluginAsync);
    // Express' own app is a function of this kind too.
    if (app.length >= 3) return { handle: app as NodeHandler, routes: expressRoutes(app) };
    return { fetch: orOurs(app as FetchFunction), routes: [] };
  }
  throw new Error(
    'must be one of: a Hono app, an object with fetch(request), a function (request) => Response, a Fastify plugin, (req, res, next)',
  );
}

type FetchFunction = (request: Request, env: { auth: CallerContext | undefined }) => unknown;

/** Without middleware there is no other sign than 404 that an app has no route for an address that is ours. */
function orOurs(answer: FetchFunction) {
  return async (request: Request, { auth, is_ours, pass }: FetchContext): Promise<Response> => {
    const untouched = request.clone();
    const response = (await answer(request, { auth })) as Response | undefined;
    if (response && (response.status !== 404 || !is_ours)) return response;
    return pass(untouched);
  };
}

/** Marked by `fastify-plugin`, or with the two parameters of a plugin that is a promise. */
function isFastifyPlugin(app: object): boolean {
  const isMarked = Symbol.for('skip-override') in app || Symbol.for('plugin-meta') in app;
  return isMarked || (app as { length: number }).length === 2;
}

/** In an instance of its own, so that it finds the framework's defaults, and none of our rules and names. */
async function fastifyApp(plugin: FastifyPluginAsync): Promise<OwnApp> {
  const own: FastifyInstance = fastify({ routerOptions: { maxParamLength: 1024 } });
  const unanswered = new WeakMap<IncomingMessage, () => void>();
  const routes: OwnRoute[] = [];
  own.addHook('onRoute', ({ method, url }) => {
    const found = [method].flat().map((each) => routeOf(each, url));
    routes.push(...found.filter((route) => route !== undefined));
  });
  await own.register(plugin);
  own.addHook('onRequest', async (request, reply) => {
    if (!request.is404) return;
    reply.hijack();
    unanswered.get(request.raw)?.();
  });
  own.setNotFoundHandler(() => undefined);
  await own.ready();
  return {
    handle(request, response, next) {
      unanswered.set(request, next);
      own.routing(request, response);
    },
    close: () => own.close(),
    routes: routes.filter(({ method }) => method !== 'HEAD'),
  };
}

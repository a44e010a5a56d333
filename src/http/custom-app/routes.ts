import { tryOrUndefined } from '../../core/failure.ts';
import { isObject } from '../../core/json.ts';

/** A custom route, for the OpenAPI document. */
export interface CustomRoute {
  readonly method: string;
  /** Parameters as `:name`. */
  readonly path: string;
}

/** Literal segments and `:names`; other router patterns have no OpenAPI template. */
const PLAIN_PATH = /^(?:\/|(?:\/(?::\w{1,100}|[\w.~-]{1,200})){1,50}\/?)$/;
const HTTP_METHODS = new Set(['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS']);

/** Routes of a Hono app. Middleware has no method of its own and is skipped. */
export function honoRoutes(routes: readonly unknown[]): CustomRoute[] {
  const found = routes.filter(isObject).map(({ method, path }) => routeOf(method, path));
  return unique(found.filter((route) => route !== undefined));
}

/** Routes of an Express-style app, read from its layer stack; those of nested routers are not found. */
export function expressRoutes(app: unknown): CustomRoute[] {
  // Express 4 has `_router` and throws on `router`; Express 5 has `router`.
  const stack = ['_router', 'router']
    .map((name) =>
      tryOrUndefined(() => (app as Record<string, { stack?: unknown } | undefined>)[name]?.stack),
    )
    .find(Array.isArray);
  const routes = (stack ?? []).flatMap((layer: unknown) => {
    const route = isObject(layer) && isObject(layer['route']) ? layer['route'] : undefined;
    const methods = isObject(route?.['methods']) ? Object.keys(route['methods']) : [];
    return methods.map((method) => routeOf(method, route?.['path']));
  });
  return unique(routes.filter((route) => route !== undefined));
}

/** Returns `undefined` for a route that OpenAPI cannot describe: a pattern, or any method. */
export function routeOf(method: unknown, path: unknown): CustomRoute | undefined {
  const name = String(method).toUpperCase();
  if (!HTTP_METHODS.has(name) || typeof path !== 'string' || !PLAIN_PATH.test(path)) return undefined;
  return { method: name, path };
}

function unique(routes: readonly CustomRoute[]): CustomRoute[] {
  return [...new Map(routes.map((route) => [`${route.method} ${route.path}`, route])).values()];
}

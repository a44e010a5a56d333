import { tryOrUndefined } from '../../core/failure.ts';
import { isObject } from '../../core/json.ts';

/** A route of the project's own app, for the reference. */
export interface CustomRoute {
  readonly method: string;
  /** With parameters as `:name`. */
  readonly path: string;
}

/** Words and `:names`: what else routers know is no template of OpenAPI. */
const PLAIN_PATH = /^(?:\/|(?:\/(?::\w{1,100}|[\w.~-]{1,200})){1,50}\/?)$/;
const HTTP_METHODS = new Set(['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS']);

/** Of a Hono app. Middleware has no method of its own and is left out. */
export function honoRoutes(routes: readonly unknown[]): CustomRoute[] {
  const found = routes.filter(isObject).map(({ method, path }) => routeOf(method, path));
  return unique(found.filter((route) => route !== undefined));
}

/** Of an app as Express has it, whose layers hold them; those of routers below it are not found. */
export function expressRoutes(app: unknown): CustomRoute[] {
  // Each version has its own name for it, and the older one throws at the newer name.
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

/** Undefined for what cannot be described: a pattern, or any method. */
export function routeOf(method: unknown, path: unknown): CustomRoute | undefined {
  const name = String(method).toUpperCase();
  if (!HTTP_METHODS.has(name) || typeof path !== 'string' || !PLAIN_PATH.test(path)) return undefined;
  return { method: name, path };
}

function unique(routes: readonly CustomRoute[]): CustomRoute[] {
  return [...new Map(routes.map((route) => [`${route.method} ${route.path}`, route])).values()];
}

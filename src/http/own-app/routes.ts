import { isObject } from '../../core/json.ts';

/** A route of the project's own app, for the reference. */
export interface OwnRoute {
  readonly method: string;
  /** With parameters as `:name`. */
  readonly path: string;
}

const METHODS = new Set(['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS']);

/** Of a Hono app. Middleware has no method of its own and is left out. */
export function honoRoutes(routes: readonly unknown[]): OwnRoute[] {
  const found = routes.filter(isObject).map(({ method, path }) => routeOf(method, path));
  return unique(found.filter((route) => route !== undefined));
}

/** Of an app as Express has it, whose layers hold them; those of routers below it are not found. */
export function expressRoutes(app: unknown): OwnRoute[] {
  const { router, _router } = app as { router?: { stack?: unknown }; _router?: { stack?: unknown } };
  const stack = router?.stack ?? _router?.stack;
  const routes = (Array.isArray(stack) ? stack : []).flatMap((layer: unknown) => {
    const route = isObject(layer) && isObject(layer['route']) ? layer['route'] : undefined;
    const methods = isObject(route?.['methods']) ? Object.keys(route['methods']) : [];
    return methods.map((method) => routeOf(method, route?.['path']));
  });
  return unique(routes.filter((route) => route !== undefined));
}

/** Undefined for what cannot be described: a pattern, or any method. */
export function routeOf(method: unknown, path: unknown): OwnRoute | undefined {
  const name = String(method).toUpperCase();
  if (!METHODS.has(name) || typeof path !== 'string' || path.includes('*')) return undefined;
  return { method: name, path };
}

function unique(routes: readonly OwnRoute[]): OwnRoute[] {
  return [...new Map(routes.map((route) => [`${route.method} ${route.path}`, route])).values()];
}

import type { FastifyInstance } from 'fastify';

/** Methods by path: the router only reports whether a method matches. */
export interface RouteTable {
  /** The most specific route for a path, regardless of method: `/threads/search`, not `/threads/:thread_id`. */
  find(path: string): { readonly url: string; readonly methods: readonly string[] } | undefined;
}

export function useRouteTable(server: FastifyInstance): RouteTable {
  const routes = new Map<string, { pattern: RegExp; parameters: number; methods: string[] }>();
  server.addHook('onRoute', ({ url, method }) => {
    // The catch-all route for preflights would match every path.
    if (url === '*') return;
    const { methods = [] } = routes.get(url) ?? {};
    const parameters = url.match(/:\w+|\*/g)?.length ?? 0;
    routes.set(url, { pattern: patternOf(url), parameters, methods: [...methods, method].flat() });
  });
  return {
    find(path) {
      const found = [...routes].filter(([, { pattern }]) => pattern.test(path));
      const [first] = found.sort(([, a], [, b]) => a.parameters - b.parameters);
      return first && { url: first[0], methods: first[1].methods };
    },
  };
}

/** The path of a URL without its query, which may hold credentials. */
export function pathOf(url: string): string {
  return url.split('?', 1)[0] as string;
}

/** OpenAPI path template: `/threads/:thread_id` becomes `/threads/{thread_id}`. */
export function pathTemplate(url: string): string {
  return url.replace(/:(\w+)/g, '{$1}');
}

function patternOf(url: string): RegExp {
  const source = url
    .replace(/[.+?^${}()|[\]\\]/g, '\\$&')
    .replace(/:\w+/g, '[^/]+')
    .replaceAll('*', '.*');
  return new RegExp(`^${source}$`);
}

import type { FastifyInstance } from 'fastify';

/** Methods by path: the router only reports whether a method matches. */
export interface RouteTable {
  /** The most specific route for a path, regardless of method: `/threads/search`, not `/threads/:thread_id`. */
  find(path: string): { readonly url: string; readonly methods: readonly string[] } | undefined;
}

export function useRouteTable(server: FastifyInstance): RouteTable {
  const routes = new Map<string, string[]>();
  // Built on first use: most requests match a route.
  let patterns: { url: string; pattern: RegExp; parameters: number }[] | undefined;
  server.addHook('onRoute', ({ url, method }) => {
    // The catch-all route for preflights would match every path.
    if (url !== '*') routes.set(url, [...(routes.get(url) ?? []), method].flat());
  });
  return {
    find(path) {
      patterns ??= [...routes.keys()].map((url) => ({
        url,
        pattern: patternOf(url),
        parameters: url.match(/:\w+|\*/g)?.length ?? 0,
      }));
      const found = patterns.filter(({ pattern }) => pattern.test(path));
      const [first] = found.sort((a, b) => a.parameters - b.parameters);
      return first && { url: first.url, methods: routes.get(first.url) ?? [] };
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

import type { FastifyInstance } from 'fastify';

/** Which methods an address has: the router knows only whether one of them fits. */
export interface RouteTable {
  /** The most specific route of a path, whatever its methods: that of `/threads/search` is not `/threads/:thread_id`. */
  find(path: string): { readonly url: string; readonly methods: readonly string[] } | undefined;
}

export function useRouteTable(server: FastifyInstance): RouteTable {
  const routes = new Map<string, { pattern: RegExp; parameters: number; methods: string[] }>();
  server.addHook('onRoute', ({ url, method }) => {
    // The wildcard of preflight requests would make every address known.
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

/** The path of an address, without its query, which may hold a key. */
export function pathOf(url: string): string {
  return url.split('?', 1)[0] as string;
}

/** `/threads/:thread_id` as everybody else writes it: `/threads/{thread_id}`. */
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

import type { FastifyInstance } from 'fastify';

/** Which methods an address has: the router knows only whether one of them fits. */
export interface RouteTable {
  /** Empty for an unknown path. */
  methodsOf(path: string): string[];
}

export function useRouteTable(server: FastifyInstance): RouteTable {
  const routes: { pattern: RegExp; method: string }[] = [];
  server.addHook('onRoute', ({ url, method }) => {
    // The wildcard of preflight requests would make every address known.
    if (url === '*') return;
    for (const each of [method].flat()) routes.push({ pattern: patternOf(url), method: each });
  });
  return {
    methodsOf(path) {
      const found = routes.filter(({ pattern }) => pattern.test(path)).map(({ method }) => method);
      return [...new Set(found)];
    },
  };
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

import type { FastifyRequest } from 'fastify';

/** Host with an optional port. Anything else in the header is not safe to echo in a URL. */
const HOST = /^(?:[\w.-]+|\[[\da-f:.]+\])(?::\d{1,5})?$/i;

/**
 * Public origin of this server as the client sees it: `https://agents.example.com`. Taken from a trusted proxy's
 * headers (`server.trust_proxy`), else from the request. Returns `undefined` if the host is invalid.
 */
export function publicUrl({ protocol, host }: Pick<FastifyRequest, 'protocol' | 'host'>): string | undefined {
  if (!HOST.test(host)) return undefined;
  const address = `${protocol === 'https' ? 'https' : 'http'}://${host}`;
  return URL.canParse(address) ? address : undefined;
}

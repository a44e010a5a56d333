import type { FastifyRequest } from 'fastify';

/** A host of a URL, with its port: what else a client writes there is no address that could be given back. */
const HOST = /^(?:[\w.-]+|\[[\da-f:.]+\])(?::\d{1,5})?$/i;

/**
 * Where the client of a request sees this server, without a path: `https://agents.example.com`. It is what a trusted
 * proxy forwarded (`server.trust_proxy`), else what the request says itself. Undefined where that is no address.
 */
export function publicUrl({ protocol, host }: Pick<FastifyRequest, 'protocol' | 'host'>): string | undefined {
  if (!HOST.test(host)) return undefined;
  const address = `${protocol === 'https' ? 'https' : 'http'}://${host}`;
  return URL.canParse(address) ? address : undefined;
}

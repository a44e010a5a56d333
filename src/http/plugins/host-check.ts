import type { FastifyInstance } from 'fastify';
import { Forbidden } from '../../core/errors.ts';
import { isLoopback } from '../../core/loopback.ts';

/**
 * Answers only requests that call the server by a name of this machine, or by an allowed one. A web page could
 * otherwise give its own name the address of a server that asks for no key, and read it as if it were its own (DNS
 * rebinding). A name that a trusted proxy forwards counts beside that of the request, never instead of it: such a page
 * can write the header itself, and comes from this machine, where a proxy may be trusted.
 */
export function useHostCheck(server: FastifyInstance, allowed: readonly string[]): void {
  const isServed = servedNames(allowed);
  server.addHook('onRequest', async ({ host, headers }) => {
    const foreign = [headers.host ?? '', host].map(hostnameOf).find((name) => !isServed(name));
    if (foreign === undefined) return;
    throw new Forbidden(
      `Host '${foreign}' is not served. Add it to server.allowed_hosts, or give the server keys.`,
    );
  });
}

/**
 * Answers only pages of this machine, of an allowed name, and of the `origins` that CORS names itself: what else a
 * browser sends comes from a page that nobody meant, where MCP asks for more than the ordinary API.
 */
export function useOriginCheck(
  server: FastifyInstance,
  allowed: readonly string[],
  origins: readonly string[],
): void {
  const isServed = servedNames(allowed);
  server.addHook('onRequest', async ({ headers: { origin } }) => {
    if (origin === undefined || origins.includes(origin)) return;
    const name = URL.parse(origin)?.host;
    if (name !== undefined && isServed(hostnameOf(name))) return;
    throw new Forbidden(
      `Pages of '${origin}' are not served. Add their host to server.allowed_hosts, or give the server keys.`,
    );
  });
}

function servedNames(allowed: readonly string[]): (name: string) => boolean {
  const names = new Set(allowed.map((name) => name.toLowerCase()));
  return (name) => name === '' || isLoopback(name) || name.endsWith('.localhost') || names.has(name);
}

/** Without the port; an address of version 6 keeps its brackets. */
function hostnameOf(host: string): string {
  return host.replace(/:\d+$/, '').toLowerCase();
}

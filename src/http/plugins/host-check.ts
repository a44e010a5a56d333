import type { FastifyInstance } from 'fastify';
import { Forbidden } from '../../core/errors.ts';
import { isLocalName } from '../../core/loopback.ts';

/**
 * Answers only requests that call the server by a name of this machine, or by an allowed one. A web page could
 * otherwise give its own name the address of a server that asks for no key, and read it as if it were its own (DNS
 * rebinding). A name that a trusted proxy forwards counts beside that of the request, never instead of it: such a page
 * can write the header itself, and comes from this machine, where a proxy may be trusted.
 */
export function useHostCheck(server: FastifyInstance, allowed: readonly string[]): void {
  const names = new Set(allowed.map((name) => name.toLowerCase()));
  const isServed = (name: string) => name === '' || isLocalName(name) || names.has(name);
  server.addHook('onRequest', async ({ host, headers }) => {
    const foreign = [headers.host ?? '', host].map(hostnameOf).find((name) => !isServed(name));
    if (foreign === undefined) return;
    throw new Forbidden(
      `Host '${foreign}' is not allowed. Add it to server.allowed_hosts, or configure keys.`,
    );
  });
}

/** Without the port; an address of version 6 keeps its brackets. */
function hostnameOf(host: string): string {
  return host.replace(/:\d+$/, '').toLowerCase();
}

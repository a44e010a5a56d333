import helmet from '@fastify/helmet';
import type { FastifyInstance } from 'fastify';
import { BadRequest, Forbidden } from '../../core/errors.ts';
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
    const rejected = [headers.host ?? '', host].map(hostnameOf).find((name) => !isServed(name));
    if (rejected === undefined) return;
    throw new Forbidden(
      `Host '${rejected}' is not allowed. Add it to server.allowed_hosts, or configure keys.`,
    );
  });
}

/** Without the port; an address of version 6 keeps its brackets. */
function hostnameOf(host: string): string {
  return host.replace(/:\d+$/, '').toLowerCase();
}

/**
 * Refuses what Node's parser takes although RFC 9112 §3.2 and §2.3 do not: several `Host` headers, of which a proxy may
 * have believed another one, and requests without a version.
 */
export function useStrictHttp(server: FastifyInstance): void {
  server.addHook('onRequest', ({ raw }, _reply, done) => {
    if (raw.httpVersionMajor < 1) return done(new BadRequest('The request has no HTTP version'));
    const { rawHeaders } = raw;
    let hosts = 0;
    // Names and values in turn; made for a request inside of the server there are none.
    for (let i = 0; rawHeaders && i < rawHeaders.length; i += 2) {
      const name = rawHeaders[i] as string;
      if (name.length === 4 && name.toLowerCase() === 'host') hosts++;
    }
    done(hosts > 1 ? new BadRequest('The request has more than one Host header') : undefined);
  });
}

/**
 * Headers that keep browsers from doing more with an answer than it is for. The page at `/docs` brings its own policy
 * for what it loads. Pages of other origins may read answers: CORS says which. TLS ends at a proxy, which is where
 * `Strict-Transport-Security` belongs.
 */
export async function useSecurityHeaders(server: FastifyInstance): Promise<void> {
  await server.register(helmet, {
    contentSecurityPolicy: false,
    crossOriginResourcePolicy: { policy: 'cross-origin' },
    crossOriginOpenerPolicy: false,
    strictTransportSecurity: false,
  });
}

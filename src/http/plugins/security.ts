import helmet from '@fastify/helmet';
import type { FastifyInstance } from 'fastify';
import { BadRequest, Forbidden } from '../../core/errors.ts';
import { isLocalName } from '../../core/loopback.ts';

/**
 * Host check against DNS rebinding: accepts only requests for a local or an allowed host name. Otherwise a web page
 * could point its own name at a server without authentication and read it as same-origin. A forwarded host from a
 * trusted proxy is checked as well as `Host`, never instead: such a page can set the header itself, and its requests
 * come from this machine, where a proxy may be trusted.
 */
export function useHostCheck(server: FastifyInstance, allowed: readonly string[]): void {
  const names = new Set(allowed.map((name) => name.toLowerCase()));
  const isServed = (name: string) => name === '' || isLocalName(name) || names.has(name);
  server.addHook('onRequest', async ({ host, headers }) => {
    const rejected = [headers.host ?? '', host].map(hostnameOf).find((name) => !isServed(name));
    if (rejected === undefined) return;
    throw new Forbidden(
      `Host '${rejected}' is not allowed. Add it to server.allowed_hosts, or configure API keys.`,
    );
  });
}

/** Host without port; an IPv6 address keeps its brackets. */
function hostnameOf(host: string): string {
  return host.replace(/:\d+$/, '').toLowerCase();
}

/**
 * Refuses what Node's parser accepts against RFC 9112 §3.2 and §2.3: several `Host` headers, which a proxy may resolve
 * differently, and requests without an HTTP version; and TRACE, for which handlers could be given no `Request`.
 */
export function useStrictHttp(server: FastifyInstance): void {
  server.addHook('onRequest', ({ raw }, reply, done) => {
    if (raw.method === 'TRACE') return void reply.code(405).send({ detail: 'Method Not Allowed' });
    if (raw.httpVersionMajor < 1) return done(new BadRequest('The request has no HTTP version'));
    const { rawHeaders } = raw;
    let hosts = 0;
    // Alternating names and values; absent on an in-process request.
    for (let i = 0; rawHeaders && i < rawHeaders.length; i += 2) {
      const name = rawHeaders[i] as string;
      if (name.length === 4 && name.toLowerCase() === 'host') hosts++;
    }
    done(hosts > 1 ? new BadRequest('The request has more than one Host header') : undefined);
  });
}

/**
 * Security headers. `/docs` sets its own content security policy. Cross-origin reads are left to CORS. TLS ends at a
 * proxy, which is where `Strict-Transport-Security` belongs.
 */
export async function useSecurityHeaders(server: FastifyInstance): Promise<void> {
  await server.register(helmet, {
    contentSecurityPolicy: false,
    crossOriginResourcePolicy: { policy: 'cross-origin' },
    crossOriginOpenerPolicy: false,
    strictTransportSecurity: false,
  });
}

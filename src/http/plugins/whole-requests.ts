import type { FastifyInstance } from 'fastify';
import { BadRequest } from '../../core/errors.ts';

/**
 * Refuses what Node's parser takes although RFC 9112 §3.2 and §2.3 do not: several `Host` headers, of which a proxy may
 * have believed another one, and requests without a version.
 */
export function useWholeRequests(server: FastifyInstance): void {
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

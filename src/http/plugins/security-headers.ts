import helmet from '@fastify/helmet';
import type { FastifyInstance } from 'fastify';

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

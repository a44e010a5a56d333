import type { FastifyInstance } from 'fastify';
import { Unavailable } from '../../core/errors.ts';
import { Health, HealthQuery } from '../../schemas/system.ts';
import { TAGS } from '../openapi/tags.ts';
import type { ZodTypeProvider } from '../plugins/validation.ts';

/** State of the process for health checks. */
export interface EngineHealth {
  /** Rejects if the database does not respond. */
  ping(): Promise<void>;
  /** True as soon as shutdown has begun. */
  isDraining(): boolean;
  /** False until the graphs have been loaded for the first time. */
  isLoaded(): boolean;
  /** Why the process must be replaced; `undefined` while its workers make progress. */
  stuck(): string | undefined;
}

export interface HealthOptions {
  readonly engine: EngineHealth;
  readonly path: '/' | '/ok';
  /** Page to which a browser that opens the root is redirected. */
  readonly page?: string | undefined;
}

/** `/ok` is always at the root, public and cannot be disabled (contract §1, §2.9). */
export function healthRoutes(server: FastifyInstance, { engine, path, page }: HealthOptions) {
  const app = server.withTypeProvider<ZodTypeProvider>();

  app.get(
    path,
    {
      schema: {
        operationId: path === '/ok' ? 'get_health' : 'get_root',
        summary: 'Health',
        description:
          'Whether the server accepts requests and, with `check_db=1`, whether its graphs are loaded and the database responds. With `live=1`, whether its workers make progress, even during shutdown; if not, the process must be replaced.',
        tags: [TAGS.system],
        querystring: HealthQuery,
        response: { 200: Health },
        failures: {
          503: 'The server is shutting down, is stuck, has not loaded its graphs, or its database does not respond',
        },
      },
      config: { open: true },
    },
    async ({ query, headers }, reply) => {
      if (page !== undefined && headers.accept?.startsWith('text/html')) return reply.redirect(page);
      if (query.live === '1') {
        const stuck = engine.stuck();
        if (stuck !== undefined) throw new Unavailable(stuck);
        return { ok: true, services: {} } as const;
      }
      if (engine.isDraining()) throw new Unavailable('The server is shutting down');
      if (query.check_db !== '1') return { ok: true, services: {} } as const;
      if (!engine.isLoaded()) throw new Unavailable('The graphs are not loaded yet');
      await engine.ping().catch((cause: unknown) => {
        throw new Unavailable('The database does not respond', { cause });
      });
      return { ok: true, services: { database: 'ok' } } as const;
    },
  );
}

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
}

/** `/ok` is always at the root, public and cannot be disabled (CONTRACT §1, §2.9). */
export function healthRoutes(
  server: FastifyInstance,
  { engine, path }: { engine: EngineHealth; path: '/' | '/ok' },
) {
  const app = server.withTypeProvider<ZodTypeProvider>();

  app.get(
    path,
    {
      schema: {
        operationId: path === '/ok' ? 'get_health' : 'get_root',
        summary: 'Health',
        description:
          'Whether the server accepts requests and, with `check_db=1`, whether the database responds.',
        tags: [TAGS.system],
        querystring: HealthQuery,
        response: { 200: Health },
        failures: { 503: 'The database does not respond' },
      },
      config: { open: true },
    },
    async ({ query }) => {
      if (engine.isDraining()) throw new Unavailable('The server is shutting down');
      if (query.check_db !== '1') return { ok: true, services: {} } as const;
      await engine.ping().catch((cause: unknown) => {
        throw new Unavailable('The database does not respond', { cause });
      });
      return { ok: true, services: { database: 'ok' } } as const;
    },
  );
}

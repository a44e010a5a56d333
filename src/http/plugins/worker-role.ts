import type { FastifyInstance } from 'fastify';
import { NotFound } from '../../core/errors.ts';
import { isInProcess } from '../in-process.ts';

/** Routes that a worker process serves over the network. */
const OPEN_PATHS = ['/', '/ok', '/info', '/metrics'];

/**
 * Serves health and metrics only. Graphs in this process may still call the server's own API, and webhooks its
 * custom routes: such requests arrive without a connection.
 */
export function useWorkerRole(server: FastifyInstance, mount_prefix: string): void {
  const open = new Set([...OPEN_PATHS, ...OPEN_PATHS.map((path) => mount_prefix + path)]);
  server.addHook('onRequest', async (request) => {
    if (isInProcess(request.raw) || open.has(request.routeOptions.url ?? '')) return;
    throw new NotFound(
      'This process only executes runs (server.role: worker). Send the request to a process with role all or api.',
    );
  });
}

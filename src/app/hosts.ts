import { availableParallelism } from 'node:os';
import { isDeepStrictEqual } from 'node:util';
import type { FastifyInstance } from 'fastify';
import { graphEnvironment } from '../config/env.ts';
import type { Config } from '../config/schema.ts';
import type { Clock } from '../core/clock.ts';
import type { Logger } from '../core/logger.ts';
import type { Asking } from '../hosts/pool/ask.ts';
import { schemaCache } from './graphs.ts';

/**
 * The graph hosts, which begin to load the project; undefined if its code executes in this process. What manages them is
 * imported late, because most servers have none. `env`: of the hosts, instead of the one of this process.
 */
export async function openHosts(
  config: Config,
  { logger, clock, env }: { logger: Logger; clock: Clock; env: NodeJS.ProcessEnv | undefined },
): Promise<Asking | undefined> {
  const { root, graphs, auth, mcp, store, http } = config;
  const count = hostCount(config.hosts);
  if (count === 0) return undefined;
  const { HostPool } = await import('../hosts/pool/pool.ts');
  const pool = new HostPool({
    count,
    max_memory_bytes: config.hosts.max_memory_mb && config.hosts.max_memory_mb * 1024 ** 2,
    max_runs: config.hosts.max_runs,
    project: {
      root,
      graphs: [...graphs],
      schema_cache: schemaCache(config),
      auth: auth.path,
      embedder: store.index && { embed: store.index.embed, dims: store.index.dims },
      mcp: mcp.app,
    },
    app: http.app,
    mount_prefix: http.mount_prefix,
    env: env ?? graphEnvironment(config.env),
    logger,
    clock,
  });
  return { pool, logger };
}

/** Lets the hosts send requests to the server. */
export async function openHostListener(server: FastifyInstance, { pool }: Asking) {
  const { listenForHosts } = await import('../hosts/pool/listener.ts');
  return await listenForHosts(server, pool);
}

/**
 * Loads the project's code anew. Resolves to whether that is all: the server has made the custom routes, and checked
 * that what is beside the graphs could be loaded, when it started.
 */
export async function reloadProject({ pool }: Asking): Promise<boolean> {
  const before = await pool.listing.catch(() => undefined);
  const { app, project_errors } = await pool.reload();
  return Object.keys(project_errors).length === 0 && isDeepStrictEqual(before?.app, app);
}

function hostCount({ count }: Config['hosts']): number {
  return count === 'auto' ? Math.max(1, availableParallelism() - 1) : count;
}

import { availableParallelism } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { graphEnvironment } from '../config/env.ts';
import type { Config } from '../config/schema.ts';
import type { Clock } from '../core/clock.ts';
import type { Logger } from '../core/logger.ts';
import type { GraphRegistry } from '../graphs/graph.ts';
import { loadGraphs } from '../graphs/runtime/registry.ts';
import type { LongTermStore } from '../graphs/store/long-term-store.ts';
import { HostPool } from '../hosts/pool/pool.ts';
import { remoteGraphs } from '../hosts/pool/registry.ts';

export interface GraphsDeps {
  readonly longTermStore: LongTermStore;
  readonly logger: Logger;
  readonly clock: Clock;
  /** Stops the background extraction of graph schemas. */
  readonly end: AbortSignal;
}

/** The configured graphs: loaded in this process, or in graph hosts, which load them in the background. */
export async function openGraphs(
  config: Config,
  { longTermStore, logger, clock, end }: GraphsDeps,
): Promise<{ readonly graphs: GraphRegistry; readonly hosts?: HostPool }> {
  const { root } = config;
  const schema_cache = join(dataFolder(config), 'schemas');
  const count = hostCount(config.hosts);
  if (count === 0) {
    const types = { cache: schema_cache, signal: end };
    return { graphs: await loadGraphs(config.graphs, { root, logger, types }) };
  }
  const hosts = new HostPool({
    count,
    max_memory_bytes: config.hosts.max_memory_mb && config.hosts.max_memory_mb * 1024 ** 2,
    max_runs: config.hosts.max_runs,
    project: { root, graphs: [...config.graphs], schema_cache },
    env: graphEnvironment(config.env),
    store: longTermStore,
    logger,
    clock,
  });
  return { graphs: remoteGraphs(config.graphs, hosts, logger), hosts };
}

function hostCount({ count }: Config['hosts']): number {
  return count === 'auto' ? Math.max(1, availableParallelism() - 1) : count;
}

/** Folder for data outside the database: that of the SQLite file, else the default one. */
function dataFolder({ storage: { url, folder = '' }, root }: Config): string {
  const file = /^sqlite:(?!:memory:)(.+)$/.exec(url)?.[1];
  return file === undefined ? resolve(root, folder, '.agent-server') : dirname(file);
}

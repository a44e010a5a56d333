import type { Logger } from '../../core/logger.ts';
import { BUSY, type ProcessLoad } from '../../core/process-load.ts';
import type { GraphRegistry, RunPlace } from '../../graphs/graph.ts';
import { type GraphSpec, logLoadError, unknownGraph } from '../../graphs/project/configured-graphs.ts';
import { fromWireError } from '../protocol/errors.ts';
import type { HostPool } from './pool.ts';
import { remoteGraph } from './remote-graph.ts';

/** Load of the hosts that accept work; without any, there is no time for more runs. */
function loadsOf({ hosts }: HostPool): Promise<ProcessLoad[]> {
  const available = hosts.filter(({ isAvailable }) => isAvailable);
  return Promise.all(available.length === 0 ? [BUSY] : available.map((host) => host.load()));
}

/** The configured graphs in the hosts of a pool. What they loaded is known once a host is ready. */
export function remoteGraphs(specs: readonly GraphSpec[], pool: HostPool, logger: Logger): GraphRegistry {
  const ids = specs.map(({ graph_id }) => graph_id);
  const descriptions = new Map(specs.map(({ graph_id, description }) => [graph_id, description ?? null]));
  const errors = new Map<string, Error>();
  const overridden = new Map<string, readonly ('checkpointer' | 'store')[]>();
  let loads = 0;
  pool.onListing(({ graphs, warnings }) => {
    for (const warning of warnings) logger.warn(warning);
    loads += 1;
    errors.clear();
    overridden.clear();
    for (const { graph_id, error, file = '', overridden: own } of graphs) {
      if (error) {
        const { cause, ...known } = error;
        errors.set(graph_id, fromWireError(known));
        logLoadError(logger, { graph_id, file, error: fromWireError(error) });
      }
      if (own.length > 0) overridden.set(graph_id, own);
    }
  });

  return {
    ids,
    description: (graph_id) => descriptions.get(graph_id) ?? null,
    async get(graph_id, config, access, context) {
      if (!descriptions.has(graph_id)) throw unknownGraph(graph_id, ids);
      // Waits for the first host as long as any request does.
      if (loads === 0) await pool.take();
      const error = errors.get(graph_id);
      if (error) throw error;
      return remoteGraph(pool, { graph_id, config, access, context });
    },
    loads: () => loads,
    hosts: () => pool.views(),
    placeOf: (run_id) => placeOf(pool, run_id),
    hostLoads: () => loadsOf(pool),
    loadErrors: () => errors,
    overriddenMemory: () => overridden,
  };
}

function placeOf({ hosts, isolation }: HostPool, run_id: string): RunPlace {
  const host = hosts.find(({ sessions }) => sessions.runIds().includes(run_id));
  return { host: host?.view(), waitsForOwnHost: isolation.isWaiting(run_id) };
}

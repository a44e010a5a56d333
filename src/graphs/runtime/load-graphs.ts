import { dirname, resolve } from 'node:path';
import type { Logger } from '../../core/logger.ts';
import { withDeadline } from '../../core/timers.ts';
import type { GraphRegistry } from '../graph.ts';
import { exposeSdkLogger } from '../observability/sdk-logger.ts';
import { type FailedGraph, type GraphSpec, logLoadError } from '../project/configured-graphs.ts';
import { LOAD_TIMEOUT_MS, loadGraphExport } from '../project/load.ts';
import { loadError } from '../project/load-error.ts';
import type { GraphSource } from '../schemas/extraction.ts';
import { type TypeSchemaOptions, typeSchemas } from '../schemas/type-schemas.ts';
import { graphRegistry, type LoadedGraph } from './langgraph.ts';

export interface LoadOptions {
  /** The folder of the configuration. */
  readonly root: string;
  readonly logger: Logger;
  /** Reports a graph that failed to load, with its cause; by default to the log. */
  readonly onLoadError?: (failed: FailedGraph) => void;
  /** Time-out of loading a file and of a factory, ms: one that hangs must not block the server. */
  readonly limit_ms?: number;
  /** Reads schemas from TypeScript types: cache folder, abort signal and time-out. Without it they are not read. */
  readonly types?: Pick<TypeSchemaOptions, 'cache' | 'signal' | 'limit_ms'>;
}

/** Loads all graphs sequentially: they may share modules. Using one that failed throws its error. */
export async function loadGraphs(
  specs: readonly GraphSpec[],
  { root, logger, limit_ms = LOAD_TIMEOUT_MS, types, onLoadError }: LoadOptions,
): Promise<GraphRegistry> {
  exposeSdkLogger(logger);
  const entries = new Map<string, LoadedGraph>();
  for (const spec of specs) {
    const file = resolve(root, spec.path);
    const loaded = await withDeadline(limit_ms, loadGraphExport(file, spec.export)).catch(
      (cause: unknown) => {
        const error = loadError(spec.graph_id, cause, root);
        const failed = { graph_id: spec.graph_id, file, error };
        if (onLoadError) onLoadError(failed);
        else logLoadError(logger, failed);
        return { error };
      },
    );
    entries.set(spec.graph_id, { spec, folder: dirname(file), loaded });
  }
  const findTypes = types
    ? typeSchemas(sourcesOf(entries, root), { root, logger, ...types })
    : async () => undefined;
  return graphRegistry(entries, { root, limit_ms, findTypes });
}

/** Sources of the graphs that loaded. */
function sourcesOf(entries: ReadonlyMap<string, LoadedGraph>, root: string): GraphSource[] {
  return [...entries.values()]
    .filter(({ loaded }) => !('error' in loaded))
    .map(({ spec }) => ({ graph_id: spec.graph_id, file: resolve(root, spec.path), export: spec.export }));
}

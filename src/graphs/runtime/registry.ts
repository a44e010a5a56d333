import { dirname, resolve } from 'node:path';
import { NotFound } from '../../core/errors.ts';
import type { Logger } from '../../core/logger.ts';
import { withDeadline } from '../../core/timers.ts';
import type { AccessContext, GraphConfig, GraphRegistry, GraphRuntime } from '../graph.ts';
import { exposeSdkLogger } from '../observability/sdk-logger.ts';
import { asGraph, type GraphExport, type GraphFactory, loadGraphExport } from '../project/load.ts';
import { loadError, withoutCause } from '../project/load-error.ts';
import { overriddenMemory, type RunnableGraph } from '../runnable.ts';
import type { GraphSource } from '../schemas/extraction.ts';
import { type FindTypeSchemas, type TypeSchemaOptions, typeSchemas } from '../schemas/type-schemas.ts';
import { langGraph } from './langgraph.ts';

/** A configured graph: `path` is relative to the configuration's folder, or absolute. */
export interface GraphSpec {
  readonly graph_id: string;
  readonly path: string;
  /** Empty for the default export. */
  readonly export: string;
  readonly description?: string | null | undefined;
}

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

export interface FailedGraph {
  readonly graph_id: string;
  readonly file: string;
  readonly error: Error;
}

/** Logs a graph that failed to load. */
export function logLoadError(logger: Logger, { graph_id, file, error }: FailedGraph): void {
  logger.error(error.message, { graph_id, file, cause: error.cause });
}

const LOAD_TIMEOUT_MS = 60_000;

interface Entry {
  readonly spec: GraphSpec;
  readonly folder: string;
  readonly loaded: GraphExport | { readonly error: Error };
}

/** Loads all graphs sequentially: they may share modules. Using one that failed throws its error. */
export async function loadGraphs(
  specs: readonly GraphSpec[],
  { root, logger, limit_ms = LOAD_TIMEOUT_MS, types, onLoadError }: LoadOptions,
): Promise<GraphRegistry> {
  exposeSdkLogger(logger);
  const entries = new Map<string, Entry>();
  for (const spec of specs) {
    const file = resolve(root, spec.path);
    const loaded = await withDeadline(limit_ms, loadGraphExport(file, spec.export)).catch(
      (cause: unknown) => {
        const error = loadError(spec.graph_id, cause, root);
        const failed = { graph_id: spec.graph_id, file, error };
        if (onLoadError) onLoadError(failed);
        else logLoadError(logger, failed);
        return { error: withoutCause(error) };
      },
    );
    entries.set(spec.graph_id, { spec, folder: dirname(file), loaded });
  }
  const findTypes = types
    ? typeSchemas(sourcesOf(entries, root), { root, logger, ...types })
    : async () => undefined;
  return registry(entries, { root, limit_ms, findTypes });
}

/** Sources of the graphs that loaded. */
function sourcesOf(entries: ReadonlyMap<string, Entry>, root: string): GraphSource[] {
  return [...entries.values()]
    .filter(({ loaded }) => !('error' in loaded))
    .map(({ spec }) => ({ graph_id: spec.graph_id, file: resolve(root, spec.path), export: spec.export }));
}

interface RegistryOptions {
  readonly root: string;
  readonly limit_ms: number;
  readonly findTypes: FindTypeSchemas;
}

function registry(
  entries: ReadonlyMap<string, Entry>,
  { root, limit_ms, findTypes }: RegistryOptions,
): GraphRegistry {
  const ids = [...entries.keys()];
  const runtimes = new Map<string, GraphRuntime>();
  const runtimeOf = (id: string, graph: RunnableGraph, folder: string) =>
    langGraph(id, graph, folder, () => findTypes(id));
  for (const [id, { loaded, folder }] of entries) {
    if ('graph' in loaded) runtimes.set(id, runtimeOf(id, loaded.graph, folder));
  }

  return {
    ids,
    description: (graph_id) => entries.get(graph_id)?.spec.description ?? null,

    async get(graph_id, config, access, context) {
      const runtime = runtimes.get(graph_id);
      if (runtime) return runtime;
      const entry = entries.get(graph_id);
      if (!entry) throw unknownGraph(graph_id, ids);
      const { loaded, folder } = entry;
      if ('error' in loaded) throw loaded.error;
      if (!('factory' in loaded)) throw new TypeError(`graph ${graph_id} has no runtime`);
      try {
        const graph = await withDeadline(limit_ms, makeGraph(loaded.factory, config, access, context));
        return runtimeOf(graph_id, graph, folder);
      } catch (cause) {
        throw loadError(graph_id, cause, root);
      }
    },

    loads: () => 1,
    hosts: () => [],
    hostLoads: async () => [],

    loadErrors: () => {
      const failed = [...entries].flatMap(([id, { loaded }]) =>
        'error' in loaded ? [[id, loaded.error] as const] : [],
      );
      return new Map(failed);
    },

    overriddenMemory: () =>
      new Map(
        [...entries].flatMap(([id, { loaded }]) => {
          const names = 'graph' in loaded ? overriddenMemory(loaded.graph) : [];
          return names.length === 0 ? [] : [[id, names] as const];
        }),
      ),
  };
}

async function makeGraph(
  factory: GraphFactory,
  config: GraphConfig,
  accessContext: AccessContext,
  context: unknown,
) {
  const executes = accessContext === 'threads.create_run';
  return asGraph(factory(config, { accessContext, ...(executes && { executionRuntime: { context } }) }));
}

/** CONTRACT §1, missing assistant. */
export function unknownGraph(graph_id: string, ids: readonly string[]): NotFound {
  const known = ids.map((id) => `'${id}'`).join(', ');
  return new NotFound(`Graph '${graph_id}' not found. Expected one of: [${known}]`);
}

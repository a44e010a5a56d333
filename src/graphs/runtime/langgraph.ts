import { toJson } from '../../core/json.ts';
import { withDeadline } from '../../core/timers.ts';
import type { GraphDrawing } from '../../schemas/assistants.ts';
import { Checkpointer } from '../checkpointer/checkpointer.ts';
import { projectSerde, useSerde } from '../checkpointer/serde.ts';
import type {
  AccessContext,
  GraphCall,
  GraphConfig,
  GraphMemory,
  GraphRegistry,
  GraphRuntime,
} from '../graph.ts';
import { type GraphSpec, unknownGraph } from '../project/configured-graphs.ts';
import { asGraph, type GraphExport, type GraphFactory } from '../project/load.ts';
import { loadError } from '../project/load-error.ts';
import { importUserModule } from '../project/user-module.ts';
import { copyOf, isLocalPregel, overriddenMemory, type RunnableGraph } from '../runnable.ts';
import type { TypeSchemasByNamespace } from '../schemas/extract.ts';
import { graphNodes, TOOL_SCHEMA_LIBRARY, type ToolSchemaLibrary } from '../schemas/graph-nodes.ts';
import { graphSchemas, SCHEMA_LIBRARY, type SchemaLibrary } from '../schemas/graph-schemas.ts';
import type { FindTypeSchemas } from '../schemas/type-schemas.ts';
import { activeSpans } from '../steps/active-spans.ts';
import { recordedNodesOf } from '../steps/recorded-graph.ts';
import { type ConvertedMessages, toWire } from '../wire.ts';
import type { CommandLibrary } from './command.ts';
import { withContinuedSubgraphs } from './continued-subgraphs.ts';
import { execute } from './execution.ts';
import { resolvedTasks } from './interrupts.ts';
import { withNestedNodes } from './nested-nodes.ts';
import { selectState } from './state-selection.ts';
import { bulkUpdateState, updateState } from './state-updates.ts';
import { statesJson } from './states-json.ts';
import { readSnapshot, threadState } from './thread-state.ts';

export interface LoadedGraph {
  readonly spec: GraphSpec;
  readonly folder: string;
  readonly loaded: GraphExport | { readonly error: Error };
}

interface RegistryOptions {
  readonly root: string;
  readonly limit_ms: number;
  readonly findTypes: FindTypeSchemas;
}

/** The loaded graphs by id; using one that failed to load throws its error. */
export function graphRegistry(
  entries: ReadonlyMap<string, LoadedGraph>,
  { root, limit_ms, findTypes }: RegistryOptions,
): GraphRegistry {
  const ids = [...entries.keys()];
  const runtimes = new Map<string, GraphRuntime>();
  const runtimeOf = (id: string, graph: RunnableGraph, folder: string) =>
    langGraph(id, graph, folder, () => findTypes(id), root);
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
    placeOf: () => ({ waitsForOwnHost: false }),
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

/**
 * LangGraph.js as a `GraphRuntime`. `folder`: where the graph's own copy of LangGraph is resolved; `types`: the schemas
 * that its source declares as types; `root`: the folder that paths of its sources are relative to.
 */
export function langGraph(
  graph_id: string,
  graph: RunnableGraph,
  folder: string,
  types: () => Promise<TypeSchemasByNamespace | undefined> = async () => undefined,
  root = folder,
): GraphRuntime {
  const commands = () => importUserModule<CommandLibrary>(folder, '@langchain/langgraph');
  const schemaLibrary = () => importUserModule<SchemaLibrary>(folder, SCHEMA_LIBRARY);
  const schemasOf = async (part: RunnableGraph, namespace: string) =>
    graphSchemas(part, await schemaLibrary(), async () => (await types())?.[namespace]);
  const serde = projectSerde(folder);

  function graphWith(memory: GraphMemory): RunnableGraph {
    useSerde(memory.checkpointer, serde);
    return withMemory(graph, memory);
  }

  /** For reading states: unreadable values are left out and reported, if the checkpointer is ours. */
  function lenientReader({ checkpointer, store }: GraphMemory) {
    useSerde(checkpointer, serde);
    const view = checkpointer instanceof Checkpointer ? checkpointer.lenientReader() : { checkpointer };
    return { unreadable: undefined, ...view, reader: withMemory(graph, { ...view, store }) };
  }

  const runtime: GraphRuntime = {
    graph_id,
    stream(requested) {
      useSerde(requested.memory.checkpointer, serde);
      const { graph: opened, call } = withNestedNodes(graph, requested, commands);
      const { continues, memory } = call;
      const called = continues ? withContinuedSubgraphs(opened, memory.checkpointer) : opened;
      return execute(executable(called, call), call, {
        library: commands,
        spans: (span) => activeSpans(folder, span),
      });
    },

    async state(config, memory, subgraphs) {
      const { reader, unreadable, checkpointer } = lenientReader(memory);
      const snapshot = await readSnapshot(reader, checkpointer, config, subgraphs);
      const asked = config.configurable.checkpoint_id;
      return asked && snapshot.createdAt === undefined
        ? undefined
        : threadState(snapshot, await resolvedTasks(snapshot, checkpointer), unreadable);
    },

    async stateJson({ config, memory, subgraphs, select }) {
      const state = await runtime.state(config, memory, subgraphs);
      return state && Buffer.from(toJson(selectState(state, select)));
    },

    async historyJson({ config, limit, before, metadata, select, memory }) {
      const { reader, unreadable } = lenientReader(memory);
      const converted: ConvertedMessages = new WeakMap();
      const options = { limit, ...(before && { before }), ...(metadata && { filter: metadata }) };
      async function* states() {
        for await (const snapshot of reader.getStateHistory?.(config, options) ?? [])
          yield selectState(threadState(snapshot, new Set(), unreadable, converted), select);
      }
      return statesJson(states());
    },

    update: (update) => updateState(graphWith(update.memory), update),
    bulkUpdate: (replay) => bulkUpdateState(graphWith(replay.memory), replay, commands),
    draw: (xray) => drawGraph(graph, xray),
    nodes: async (source) =>
      graphNodes(
        graph,
        await importUserModule<ToolSchemaLibrary>(folder, TOOL_SCHEMA_LIBRARY),
        source ? root : undefined,
      ),
    schemas: async () => ({ graph_id, ...(await schemasOf(graph, '')) }),

    async subgraphs(namespace, recurse) {
      const found = [];
      for await (const [name, subgraph] of graph.getSubgraphsAsync?.(namespace, recurse) ?? []) {
        found.push([name, await schemasOf(subgraph, name)] as const);
      }
      return Object.fromEntries(found);
    },
  };
  return runtime;
}

/** Nodes and edges as LangGraph draws them; empty if the graph cannot draw itself. */
async function drawGraph(graph: RunnableGraph, xray: boolean | number): Promise<GraphDrawing> {
  const drawn = await graph.getGraphAsync?.({ xray });
  return drawn ? (toWire(drawn.toJSON()) as GraphDrawing) : { nodes: [], edges: [] };
}

/** The graph with the memory of the run, and with nodes that are recorded. */
function executable(graph: RunnableGraph, { memory, protocol }: GraphCall): RunnableGraph {
  const prepared = withMemory(graph, memory, protocol);
  const nodes =
    memory.checkpointer instanceof Checkpointer && memory.checkpointer.steps && recordedNodesOf(graph);
  return nodes ? Object.assign(prepared, { nodes }) : prepared;
}

/**
 * A clone of the graph with this memory: LangGraph ignores a checkpointer given as a call option, and the user's object
 * is shared by all runs. A graph that is not built like LangGraph's own is used as it is: it may have private fields,
 * which a clone would lack, and it stores its state elsewhere. `reconstruct`: stream v3 requires private methods, which
 * only a constructed graph has; that costs more than copying the fields.
 */
function withMemory(
  graph: RunnableGraph,
  memory: { checkpointer: unknown; store: unknown },
  reconstruct = false,
): RunnableGraph {
  if (!isLocalPregel(graph)) return graph;
  const { checkpointer, store } = memory;
  if (reconstruct && graph.withConfig) return Object.assign(graph.withConfig({}), { checkpointer, store });
  return copyOf(graph, { checkpointer, store });
}

import { BadRequest, ServerError } from '../../core/errors.ts';
import { publicFailure, toError } from '../../core/failure.ts';
import type { GraphDrawing } from '../../schemas/assistants.ts';
import { Checkpointer } from '../checkpointer/checkpointer.ts';
import { projectSerde, useSerde } from '../checkpointer/serde.ts';
import type { GraphBulkUpdate, GraphMemory, GraphRuntime, GraphUpdate, SuperstepUpdate } from '../graph.ts';
import { importUserModule } from '../project/user-module.ts';
import { type RunnableGraph, withMemory } from '../runnable.ts';
import type { TypeSchemasByNamespace } from '../schemas/extract.ts';
import { graphSchemas, SCHEMA_LIBRARY, type SchemaLibrary } from '../schemas/graph-schemas.ts';
import { type ConvertedMessages, toWire } from '../wire.ts';
import { type CommandLibrary, toLangGraphCommand } from './command.ts';
import { execute } from './execution.ts';
import { resolvedTasks } from './interrupts.ts';
import { readSnapshot, threadState } from './thread-state.ts';

/**
 * LangGraph.js as a `GraphRuntime`. `folder`: where the graph's own copy of LangGraph is resolved; `types`: the schemas
 * that its source declares as types.
 */
export function langGraph(
  graph_id: string,
  graph: RunnableGraph,
  folder: string,
  types: () => Promise<TypeSchemasByNamespace | undefined> = async () => undefined,
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

  return {
    graph_id,
    stream(call) {
      useSerde(call.memory.checkpointer, serde);
      return execute(graph, call, commands);
    },

    async state(config, memory, subgraphs) {
      const { reader, unreadable, checkpointer } = lenientReader(memory);
      const snapshot = await readSnapshot(reader, checkpointer, config, subgraphs);
      const asked = config.configurable.checkpoint_id;
      return asked && snapshot.createdAt === undefined
        ? undefined
        : threadState(snapshot, await resolvedTasks(snapshot, checkpointer), unreadable);
    },

    async history({ config, limit, before, metadata, memory }) {
      const { reader, unreadable } = lenientReader(memory);
      const states = [];
      const converted: ConvertedMessages = new WeakMap();
      const options = { limit, ...(before && { before }), ...(metadata && { filter: metadata }) };
      for await (const snapshot of reader.getStateHistory?.(config, options) ?? []) {
        states.push(threadState(snapshot, new Set(), unreadable, converted));
      }
      return states;
    },

    update: (update) => updateState(graphWith(update.memory), update),
    bulkUpdate: (replay) => bulkUpdateState(graphWith(replay.memory), replay, commands),
    draw: (xray) => drawGraph(graph, xray),
    schemas: async () => ({ graph_id, ...(await schemasOf(graph, '')) }),

    async subgraphs(namespace, recurse) {
      const found = [];
      for await (const [name, subgraph] of graph.getSubgraphsAsync?.(namespace, recurse) ?? []) {
        found.push([name, await schemasOf(subgraph, name)] as const);
      }
      return Object.fromEntries(found);
    },
  };
}

async function updateState(graph: RunnableGraph, { config, values, as_node }: GraphUpdate) {
  if (!graph.updateState) throw new BadRequest('The state of this graph cannot be updated.');
  try {
    const { configurable } = await graph.updateState(config, values, as_node);
    return configurable ?? {};
  } catch (error) {
    throw toUpdateError(error);
  }
}

async function bulkUpdateState(
  graph: RunnableGraph,
  { config, supersteps }: GraphBulkUpdate,
  library: () => Promise<CommandLibrary>,
): Promise<void> {
  if (!graph.bulkUpdateState) throw new BadRequest('The state of this graph cannot be updated.');
  const steps = supersteps.map(async (updates) => ({
    updates: await Promise.all(updates.map((update) => toLangGraphUpdate(update, library))),
  }));
  try {
    await graph.bulkUpdateState(config, await Promise.all(steps));
  } catch (error) {
    throw toUpdateError(error);
  }
}

async function toLangGraphUpdate(
  { values = null, command, as_node }: SuperstepUpdate,
  library: () => Promise<CommandLibrary>,
): Promise<object> {
  const asNode = as_node;
  return command
    ? { values: await toLangGraphCommand(await library(), command, async () => []), asNode }
    : { values, asNode };
}

/**
 * A node or reducer that rejects the values is the client's error. Errors of the database or of Node carry a `code`;
 * those of LangGraph, LangChain and reducers do not.
 */
function toUpdateError(thrown: unknown): Error {
  const error = toError(thrown);
  if (error instanceof ServerError || 'code' in error) return error;
  // LangGraph appends a link to its documentation.
  const [reason = ''] = publicFailure(error).message.split('\n\nTroubleshooting URL', 1);
  return new BadRequest(`The graph refused the update: ${reason.trim()}`, { cause: error });
}

/** Nodes and edges as LangGraph draws them; empty if the graph cannot draw itself. */
async function drawGraph(graph: RunnableGraph, xray: boolean | number): Promise<GraphDrawing> {
  const drawn = await graph.getGraphAsync?.({ xray });
  return drawn ? (toWire(drawn.toJSON()) as GraphDrawing) : { nodes: [], edges: [] };
}

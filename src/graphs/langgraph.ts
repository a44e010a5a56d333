import { BadRequest, ServerError } from '../core/errors.ts';
import { asError, publicFailure } from '../core/failure.ts';
import { answeredTasks } from './answered.ts';
import { Checkpointer } from './checkpointer.ts';
import { type CommandLibrary, libraryCommand } from './command.ts';
import { drawing } from './draw.ts';
import { execute } from './execution.ts';
import type { GraphMemory, GraphReplay, GraphRuntime, GraphUpdate, SuperstepUpdate } from './graph.ts';
import { type RunnableGraph, withMemory } from './runnable.ts';
import { graphSchemas, SCHEMA_LIBRARY, type SchemaLibrary } from './schemas.ts';
import { projectSerde, useSerde } from './serde.ts';
import { snapshotOf } from './snapshot.ts';
import { threadState } from './thread-state.ts';
import type { TypeSchemasByNamespace } from './type-schemas/extract.ts';
import { userModule } from './user-module.ts';

/**
 * LangGraph.js behind the server's idea of a graph. `folder` is where the graph's own copy of LangGraph is found, `types`
 * what its source says of its schemas.
 */
export function langGraph(
  graph_id: string,
  graph: RunnableGraph,
  folder: string,
  types: () => Promise<TypeSchemasByNamespace | undefined> = async () => undefined,
): GraphRuntime {
  const commands = () => userModule<CommandLibrary>(folder, '@langchain/langgraph');
  const schemaLibrary = () => userModule<SchemaLibrary>(folder, SCHEMA_LIBRARY);
  const schemasOf = async (part: RunnableGraph, namespace: string) =>
    graphSchemas(part, await schemaLibrary(), async () => (await types())?.[namespace]);
  const serde = projectSerde(folder);

  function remembering(memory: GraphMemory): RunnableGraph {
    useSerde(memory.checkpointer, serde);
    return withMemory(graph, memory);
  }

  /** For states: what cannot be read of them is left out and noted, where the memory is ours. */
  function reading({ checkpointer, store }: GraphMemory) {
    useSerde(checkpointer, serde);
    const view = checkpointer instanceof Checkpointer ? checkpointer.forStates() : { checkpointer };
    return { unreadable: undefined, ...view, reader: withMemory(graph, { ...view, store }) };
  }

  return {
    graph_id,
    stream(call) {
      useSerde(call.memory.checkpointer, serde);
      return execute(graph, call, commands);
    },

    async state(config, memory, subgraphs) {
      const { reader, unreadable, checkpointer } = reading(memory);
      const snapshot = await snapshotOf(reader, checkpointer, config, subgraphs);
      const asked = config.configurable.checkpoint_id;
      return asked && snapshot.createdAt === undefined
        ? undefined
        : threadState(snapshot, await answeredTasks(snapshot, checkpointer), unreadable);
    },

    async history({ config, limit, before, metadata, memory }) {
      const { reader, unreadable } = reading(memory);
      const states = [];
      const options = { limit, ...(before && { before }), ...(metadata && { filter: metadata }) };
      for await (const snapshot of reader.getStateHistory?.(config, options) ?? []) {
        states.push(threadState(snapshot, new Set(), unreadable));
      }
      return states;
    },

    update: (update) => updateState(remembering(update.memory), update),
    replay: (replay) => replaySupersteps(remembering(replay.memory), replay, commands),
    draw: (xray) => drawing(graph, xray),
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
    throw refusedUpdate(error);
  }
}

async function replaySupersteps(
  graph: RunnableGraph,
  { config, supersteps }: GraphReplay,
  library: () => Promise<CommandLibrary>,
): Promise<void> {
  if (!graph.bulkUpdateState) throw new BadRequest('The state of this graph cannot be updated.');
  const steps = supersteps.map(async (updates) => ({
    updates: await Promise.all(updates.map((update) => libraryUpdate(update, library))),
  }));
  try {
    await graph.bulkUpdateState(config, await Promise.all(steps));
  } catch (error) {
    throw refusedUpdate(error);
  }
}

async function libraryUpdate(
  { values = null, command, as_node }: SuperstepUpdate,
  library: () => Promise<CommandLibrary>,
): Promise<object> {
  const asNode = as_node;
  return command
    ? { values: await libraryCommand(await library(), command, async () => []), asNode }
    : { values, asNode };
}

/**
 * A node or a reducer that cannot take the values is the client's mistake. What the database or Node throws carries a
 * `code`; LangGraph, LangChain and reducers throw without one.
 */
function refusedUpdate(thrown: unknown): Error {
  const error = asError(thrown);
  if (error instanceof ServerError || 'code' in error) return error;
  // LangGraph adds a link to its own documentation.
  const [reason = ''] = publicFailure(error).message.split('\n\nTroubleshooting URL', 1);
  return new BadRequest(`The graph refused the update: ${reason.trim()}`, { cause: error });
}

import { BadRequest, ServerError } from '../../core/errors.ts';
import { publicFailure, toError } from '../../core/failure.ts';
import type { GraphBulkUpdate, GraphUpdate, SuperstepUpdate } from '../graph.ts';
import type { RunnableGraph } from '../runnable.ts';
import { type CommandLibrary, toLangGraphCommand } from './command.ts';

/** Writes values as a node would. Throws `BadRequest` if the graph refuses them. */
export async function updateState(graph: RunnableGraph, { config, values, as_node }: GraphUpdate) {
  if (!graph.updateState) throw new BadRequest('The state of this graph cannot be updated.');
  try {
    const { configurable } = await graph.updateState(config, values, as_node);
    return configurable ?? {};
  } catch (error) {
    throw toUpdateError(error);
  }
}

/** Writes whole supersteps. Throws `BadRequest` if the graph refuses one. */
export async function bulkUpdateState(
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
  return new BadRequest(`The graph rejected the update: ${reason.trim()}`, { cause: error });
}

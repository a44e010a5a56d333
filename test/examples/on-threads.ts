import type { BaseCheckpointSaver, BaseStore } from '@langchain/langgraph';

/** The graph with memory of its own, as the server gives it to each run: a clone, the original stays as it is. */
export function onThreads<Graph extends object>(
  graph: Graph,
  checkpointer: BaseCheckpointSaver,
  store?: BaseStore,
): Graph {
  return Object.assign(Object.create(Object.getPrototypeOf(graph)), graph, { checkpointer, store });
}

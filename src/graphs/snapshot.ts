import type { GraphConfig } from './graph.ts';
import type { RunnableGraph, Snapshot } from './runnable.ts';

/** What is needed of LangGraph's checkpointers. */
interface Saver {
  getTuple(config: object): Promise<{ checkpoint: { id: string } } | undefined>;
}

/**
 * The state as LangGraph has it. What tasks wrote is part of the newest one before their step ends, unless a reducer
 * refuses it, as it did in the run: then the state is that of the checkpoint.
 */
export async function snapshotOf(
  reader: RunnableGraph,
  checkpointer: unknown,
  config: GraphConfig,
  subgraphs: boolean,
): Promise<Snapshot> {
  try {
    return await reader.getState(config, { subgraphs });
  } catch (error) {
    const { configurable } = config;
    const saved =
      configurable.checkpoint_id === undefined && (await (checkpointer as Saver).getTuple(config));
    if (!saved) throw error;
    const checkpoint_id = saved.checkpoint.id;
    return reader.getState({ ...config, configurable: { ...configurable, checkpoint_id } }, { subgraphs });
  }
}

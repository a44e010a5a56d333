import type { RunnableConfig } from '@langchain/core/runnables';
import type { CheckpointMetadata } from '@langchain/langgraph-checkpoint';

/** What LangGraph and LangChain put into a configuration's metadata about the step or for traces, not about the run. */
const NOT_OF_THE_RUN: ReadonlySet<string> = new Set([
  'checkpoint_id',
  'checkpoint_ns',
  'checkpoint_map',
  'langgraph_step',
  'langgraph_node',
  'langgraph_triggers',
  'langgraph_path',
  'langgraph_checkpoint_ns',
  'ls_integration',
]);

/** A checkpoint's metadata names the run, its graph and all the run was given as metadata (CONTRACT §2.2). */
export function checkpointMetadata(config: RunnableConfig, metadata: CheckpointMetadata): CheckpointMetadata {
  const ofTheRun = Object.entries(config.metadata ?? {}).filter(
    ([key]) => !NOT_OF_THE_RUN.has(key) && !key.startsWith('__'),
  );
  return { ...Object.fromEntries(ofTheRun), ...metadata };
}

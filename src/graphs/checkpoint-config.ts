import type { RunnableConfig } from '@langchain/core/runnables';
import type { CheckpointMetadata } from '@langchain/langgraph-checkpoint';
import { InvalidInput } from '../core/errors.ts';
import { isObject } from '../core/json.ts';
import type { CheckpointConfig } from '../schemas/thread-state.ts';

/** The checkpoint that a configuration addresses, in the contract's terms; null if it names none. */
export function checkpointOf(config: unknown): CheckpointConfig | null {
  const checkpoint = namespaceConfigOf(config);
  return checkpoint?.checkpoint_id ? checkpoint : null;
}

/** Like `checkpointOf`, for a namespace that may not hold a checkpoint yet: that of a task's subgraph. */
export function namespaceConfigOf(config: unknown): CheckpointConfig | null {
  if (!isObject(config) || !isObject(config.configurable)) return null;
  const { thread_id, checkpoint_ns, checkpoint_id, checkpoint_map } = config.configurable;
  if (typeof thread_id !== 'string') return null;
  return {
    thread_id,
    checkpoint_ns: typeof checkpoint_ns === 'string' ? checkpoint_ns : '',
    ...(typeof checkpoint_id === 'string' && { checkpoint_id }),
    ...(isObject(checkpoint_map) && { checkpoint_map }),
  };
}

/** A configuration without LangGraph's internal entries (`__pregel_…`, callbacks). */
export function publicConfig(config: unknown): unknown {
  if (!isObject(config)) return null;
  const { callbacks: _callbacks, configurable, ...rest } = config;
  if (!isObject(configurable)) return rest;
  const publicEntries = Object.entries(configurable).filter(([key]) => !key.startsWith('__pregel'));
  return { configurable: Object.fromEntries(publicEntries), ...rest };
}

/** Address of a checkpoint in LangGraph's `configurable`. */
export interface CheckpointAddress {
  readonly thread_id: string | undefined;
  readonly ns: string | undefined;
  readonly checkpoint_id: string | undefined;
}

/** Throws `InvalidInput` for an invalid id: clients control these entries of the configuration. */
export function addressOf({ configurable = {} }: RunnableConfig): CheckpointAddress {
  return {
    thread_id: stringIn(configurable, 'thread_id'),
    ns: stringIn(configurable, 'checkpoint_ns'),
    checkpoint_id: stringIn(configurable, 'checkpoint_id') || undefined,
  };
}

export function configOf(thread_id: string, ns: string, checkpoint_id: string) {
  return { configurable: { thread_id, checkpoint_ns: ns, checkpoint_id } };
}

function stringIn(configurable: Record<string, unknown>, key: string): string | undefined {
  const value = configurable[key] ?? undefined;
  if (value === undefined) return undefined;
  if (typeof value !== 'string' || value.includes('\0')) {
    throw new InvalidInput(`configurable.${key} must be a string without NUL characters.`);
  }
  return value;
}

/** Metadata that LangGraph and LangChain add about the step or for traces, not about the run. */
const STEP_KEYS: ReadonlySet<string> = new Set([
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

/** Metadata of a checkpoint: the run, its graph, and all metadata given to the run (contract §2.2). */
export function checkpointMetadata(config: RunnableConfig, metadata: CheckpointMetadata): CheckpointMetadata {
  const runMetadata = Object.entries(config.metadata ?? {}).filter(
    ([key]) => !STEP_KEYS.has(key) && !key.startsWith('__'),
  );
  return { ...Object.fromEntries(runMetadata), ...metadata };
}

import { isObject } from '../core/json.ts';
import type { CheckpointConfig } from '../schemas/thread-state.ts';

/** Where a configuration points, in the words of the contract. Null when it names no checkpoint. */
export function checkpointOf(config: unknown): CheckpointConfig | null {
  const checkpoint = placeOf(config);
  return checkpoint?.checkpoint_id ? checkpoint : null;
}

/** As `checkpointOf`, for a place that need not hold a checkpoint yet: the namespace of a task's subgraph. */
export function placeOf(config: unknown): CheckpointConfig | null {
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

/** A configuration without what LangGraph keeps in it for itself (`__pregel_…`, callbacks). */
export function publicConfig(config: unknown): unknown {
  if (!isObject(config)) return null;
  const { callbacks: _callbacks, configurable, ...rest } = config;
  if (!isObject(configurable)) return rest;
  const shown = Object.entries(configurable).filter(([key]) => !key.startsWith('__pregel'));
  return { configurable: Object.fromEntries(shown), ...rest };
}

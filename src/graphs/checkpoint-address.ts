import type { RunnableConfig } from '@langchain/core/runnables';
import { InvalidInput } from '../core/errors.ts';

/** What LangGraph's `configurable` says about where a checkpoint is. */
export interface CheckpointAddress {
  readonly thread_id: string | undefined;
  readonly ns: string | undefined;
  readonly checkpoint_id: string | undefined;
}

/** Throws `InvalidInput` for what cannot be a name: clients put these in a configuration as they like. */
export function addressOf({ configurable = {} }: RunnableConfig): CheckpointAddress {
  return {
    thread_id: nameIn(configurable, 'thread_id'),
    ns: nameIn(configurable, 'checkpoint_ns'),
    checkpoint_id: nameIn(configurable, 'checkpoint_id') || undefined,
  };
}

export function configOf(thread_id: string, ns: string, checkpoint_id: string) {
  return { configurable: { thread_id, checkpoint_ns: ns, checkpoint_id } };
}

function nameIn(configurable: Record<string, unknown>, key: string): string | undefined {
  const name = configurable[key] ?? undefined;
  if (name === undefined) return undefined;
  if (typeof name !== 'string' || name.includes('\0')) {
    throw new InvalidInput(`configurable.${key} must be a string without NUL characters.`);
  }
  return name;
}

import { NO_TASK } from './checkpoint-tuple.ts';

/**
 * Defers the updates of a command until something is stored after them. LangGraph stores updates before it applies
 * them, and applies stored ones whenever it loads the checkpoint: an update that a reducer rejects would also fail
 * every later run of the thread.
 */
export class DeferredUpdates {
  #deferred: { readonly checkpoint_id: string; readonly store: () => Promise<void> } | undefined;

  /** Stores the deferred updates: a later write of the run depends on them. */
  async flush(): Promise<void> {
    const deferred = this.#deferred;
    this.#deferred = undefined;
    await deferred?.store();
  }

  /** Does so before a put, except for updates of its own checkpoint: with durability `exit` they may still be unapplied. */
  async flushBefore(checkpoint_id: string): Promise<void> {
    if (this.#deferred?.checkpoint_id !== checkpoint_id) await this.flush();
  }

  defer(checkpoint_id: string, store: () => Promise<void>): void {
    this.#deferred = { checkpoint_id, store };
  }
}

/** True for values of the state; a resume value and a goto use channel names of LangGraph's own. */
export function isStateUpdate(task_id: string, writes: readonly (readonly [string, unknown])[]): boolean {
  return task_id === NO_TASK && writes.some(([channel]) => !/^(__|branch:)/.test(channel));
}

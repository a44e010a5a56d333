/** LangGraph's id for what no task wrote. */
const NO_TASK = '00000000-0000-0000-0000-000000000000';

/**
 * Updates of a command, until something is stored after them. LangGraph stores them before it applies them, and applies
 * what is stored whenever it loads the checkpoint: an update that a reducer refuses would end every later run of the
 * thread, too.
 */
export class DeferredUpdates {
  #deferred: { readonly checkpoint_id: string; readonly store: () => Promise<void> } | undefined;

  /** Stores what was kept back: what a run stores after its updates it makes with them. */
  async flush(): Promise<void> {
    const deferred = this.#deferred;
    this.#deferred = undefined;
    await deferred?.store();
  }

  /** The same, where a checkpoint is stored. With durability `exit` that comes after its own updates, tried or not. */
  async flushBefore(checkpoint_id: string): Promise<void> {
    if (this.#deferred?.checkpoint_id !== checkpoint_id) await this.flush();
  }

  defer(checkpoint_id: string, store: () => Promise<void>): void {
    this.#deferred = { checkpoint_id, store };
  }
}

/** Whether these are values for the state; an answer to an interrupt and where to go have names of LangGraph's own. */
export function isStateUpdate(task_id: string, writes: readonly (readonly [string, unknown])[]): boolean {
  return task_id === NO_TASK && writes.some(([channel]) => !/^(__|branch:)/.test(channel));
}

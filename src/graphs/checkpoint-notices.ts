import { isObject } from '../core/json.ts';
import type { CheckpointNotice } from './graph.ts';

/**
 * Tells of each checkpoint of the root graph behind the events that tell of its state, so that who has the state can
 * begin there. LangGraph says that it made one after the state in it; its newer stream says so shortly before.
 */
export class CheckpointNotices {
  readonly #emit: (notice: CheckpointNotice) => void;
  #made: string | undefined;

  constructor(emit: (notice: CheckpointNotice) => void) {
    this.#emit = emit;
  }

  /** LangGraph's chunk of mode `checkpoints`: with its configuration after the state, or only its id before it. */
  made(namespace: readonly string[], payload: unknown): void {
    if (!isObject(payload) || !isRoot(namespace)) return;
    const { configurable } = (payload['config'] ?? {}) as { configurable?: { checkpoint_id?: unknown } };
    const id = configurable?.checkpoint_id ?? payload['id'];
    if (typeof id === 'string') this.#made = id;
    if (configurable) this.tell();
  }

  /** To be called before each other chunk, unless it is the state of the root graph, after that, and at the end. */
  tell(): void {
    if (this.#made !== undefined) this.#emit({ checkpoint_id: this.#made });
    this.#made = undefined;
  }
}

export function isRoot(namespace: readonly string[]): boolean {
  return namespace.length === 0 || (namespace.length === 1 && namespace[0] === '');
}

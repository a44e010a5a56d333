import { isObject } from '../../core/json.ts';
import type { CheckpointEvent } from '../graph.ts';

/**
 * Tells of each checkpoint of the root graph behind the events that tell of its state, so that who has the state can
 * begin there. LangGraph says that it made one after the state in it; its newer stream says so shortly before.
 */
export class CheckpointEvents {
  readonly #emit: (event: CheckpointEvent) => void;
  #pending: string | undefined;

  constructor(emit: (event: CheckpointEvent) => void) {
    this.#emit = emit;
  }

  /** LangGraph's chunk of mode `checkpoints`: with its configuration after the state, or only its id before it. */
  created(namespace: readonly string[], payload: unknown): void {
    if (!isObject(payload) || !isRootNamespace(namespace)) return;
    const { configurable } = (payload['config'] ?? {}) as { configurable?: { checkpoint_id?: unknown } };
    const id = configurable?.checkpoint_id ?? payload['id'];
    if (typeof id === 'string') this.#pending = id;
    if (configurable) this.flush();
  }

  /** To be called before each other chunk, unless it is the state of the root graph, after that, and at the end. */
  flush(): void {
    if (this.#pending !== undefined) this.#emit({ checkpoint_id: this.#pending });
    this.#pending = undefined;
  }
}

export function isRootNamespace(namespace: readonly string[]): boolean {
  return namespace.length === 0 || (namespace.length === 1 && namespace[0] === '');
}

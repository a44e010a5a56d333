import { isObject } from '../../core/json.ts';
import type { CheckpointEvent } from '../graph.ts';

/**
 * Emits each checkpoint of the root graph after the events that cover its state, so that a client with that state can
 * resume there. LangGraph announces a checkpoint after its state; stream v3 shortly before.
 */
export class CheckpointEvents {
  readonly #emit: (event: CheckpointEvent) => void;
  #pending: string | undefined;

  constructor(emit: (event: CheckpointEvent) => void) {
    this.#emit = emit;
  }

  /** A chunk of mode `checkpoints`: with its configuration after the state, or only with its id before it. */
  created(namespace: readonly string[], payload: unknown): void {
    if (!isObject(payload) || !isRootNamespace(namespace)) return;
    const { configurable } = (payload['config'] ?? {}) as { configurable?: { checkpoint_id?: unknown } };
    const id = configurable?.checkpoint_id ?? payload['id'];
    if (typeof id === 'string') this.#pending = id;
    if (configurable) this.flush();
  }

  /** Call it before each other chunk, except the state of the root graph: after that; and at the end. */
  flush(): void {
    if (this.#pending !== undefined) this.#emit({ checkpoint_id: this.#pending });
    this.#pending = undefined;
  }
}

export function isRootNamespace(namespace: readonly string[]): boolean {
  return namespace.length === 0 || (namespace.length === 1 && namespace[0] === '');
}

/** LangGraph includes the node of a message or a tool; the event belongs to the graph that holds the node. */
export function parentNamespace(namespace: readonly string[]): readonly string[] {
  return namespace.slice(0, -1);
}

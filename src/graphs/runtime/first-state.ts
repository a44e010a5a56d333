import { isObject } from '../../core/json.ts';
import { PROTOCOL_EVENT } from '../../events/frame.ts';
import type { GraphEvent } from '../graph.ts';
import type { CheckpointEvents } from './checkpoint-events.ts';

/**
 * Holds the first state of a run, which is its input merged into the thread, until a node has done something: waited,
 * emitted or returned. If the first node throws at once, the state is never sent. A client shows a message as sent once
 * a state holds it; in the official server such a run has failed before its client subscribes, which then learns of the
 * failure first. Here the two run in different processes, and only the order of events is the same at any speed.
 */
export class FirstState {
  readonly #emit: (event: GraphEvent) => void;
  readonly #checkpointEvents: Pick<CheckpointEvents, 'flush'>;
  #held: GraphEvent[] | undefined;
  #isPast = false;
  /** A task has a result: the next event tells whether it failed. LangGraph 1.4 names no error in the result itself. */
  #hasResult = false;

  constructor(emit: (event: GraphEvent) => void, checkpointEvents: Pick<CheckpointEvents, 'flush'>) {
    this.#emit = emit;
    this.#checkpointEvents = checkpointEvents;
  }

  get isHeld(): boolean {
    return this.#held !== undefined;
  }

  /** Call it before each event of the graph. `isState`: it is the state of the root graph. */
  before({ method, params }: { method: string; params: { data: unknown } }, isState: boolean): void {
    if (this.#isPast) return;
    if (!this.#held) {
      if (isState) this.#hold();
      return;
    }
    if (method === 'tasks') this.#hasResult ||= isObject(params.data) && 'result' in params.data;
    else if (method !== 'lifecycle') this.release();
  }

  emit(event: GraphEvent): void {
    if (this.#held) this.#held.push(event);
    else this.#emit(event);
  }

  release(): void {
    const held = this.#held;
    if (!held) return;
    this.#held = undefined;
    this.#isPast = true;
    for (const event of held) this.#emit(event);
    this.#checkpointEvents.flush();
  }

  /** The graph threw. */
  failed(): void {
    const held = this.#held ?? [];
    this.#held = undefined;
    for (const event of held) if (event.event !== `${PROTOCOL_EVENT}values`) this.#emit(event);
  }

  /** What a node does without waiting happens within this turn of the event loop. */
  #hold(): void {
    this.#held = [];
    setImmediate(() => {
      if (!this.#hasResult) this.release();
    });
  }
}

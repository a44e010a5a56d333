import { isObject } from '../core/json.ts';
import type { GraphEvent } from './graph.ts';
import { isMessage, type Message, messageOnWire, toWire } from './wire.ts';

/**
 * Mode `messages` (CONTRACT §5), out of LangGraph's chunks: each new message is announced by `messages/metadata`, a
 * streamed one then comes as it has grown so far (`messages/partial`), and every one once as a whole
 * (`messages/complete`): one that was not streamed at once, a streamed one when the state holds it.
 */
export class MessageStream {
  readonly #announced = new Set<string>();
  readonly #growing = new Map<string, Message>();

  /** A chunk or a whole message as LangGraph's mode `messages` has it. */
  add(message: Message, metadata: unknown, emit: (event: GraphEvent) => void): void {
    const { id } = message;
    if (id === undefined) return;
    if (!this.#announced.has(id)) {
      this.#announced.add(id);
      emit({ event: 'messages/metadata', data: { [id]: { metadata: toWire(metadata) } } });
    }
    if (message.concat === undefined) {
      this.#growing.delete(id);
      emit({ event: 'messages/complete', data: [messageOnWire(message)] });
      return;
    }
    const grown = this.#growing.get(id)?.concat?.(message) ?? message;
    this.#growing.set(id, grown);
    emit({ event: 'messages/partial', data: [messageOnWire(grown)] });
  }

  /** A state in which streamed messages may have arrived. */
  complete(values: unknown, emit: (event: GraphEvent) => void): void {
    if (this.#growing.size === 0 || !isObject(values)) return;
    for (const message of Object.values(values).flat()) {
      if (!isMessage(message) || message.id === undefined) continue;
      if (this.#growing.delete(message.id))
        emit({ event: 'messages/complete', data: [messageOnWire(message)] });
    }
  }
}

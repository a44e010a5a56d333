import { systemClock } from '../../core/clock.ts';
import { isObject } from '../../core/json.ts';
import { PROTOCOL_NOTE } from '../../events/frame.ts';
import type { GraphEvent } from '../graph.ts';
import { isMessage, messageToWire } from '../wire.ts';
import { isRootNamespace } from './checkpoint-events.ts';

type Namespace = readonly string[];

/**
 * Notes what a client of event streaming shows and the stream modes of a run leave out (contract §7): when subgraphs
 * start and end, and each new message of a graph whose states are not sent, once and whole. One instance per run.
 */
export class ProtocolNotes {
  readonly #emit: (event: GraphEvent) => void;
  /** The states of the root graph are in the log, and its messages with them. */
  readonly #hasRootStates: boolean;
  /** Open subgraphs by namespace, parents before children. */
  readonly #open = new Map<string, Namespace>();
  /** Graphs whose first state was seen, which holds what they were given. */
  readonly #begun = new Set<string>();
  /** Messages that were given or noted: a graph has those of its subgraphs, too. */
  readonly #ids = new Set<string>();

  constructor(emit: (event: GraphEvent) => void, { hasRootStates }: { hasRootStates: boolean }) {
    this.#emit = emit;
    this.#hasRootStates = hasRootStates;
  }

  /** Call it with each state before it is sent. */
  state(place: Namespace, values: unknown): void {
    const namespace = isRootNamespace(place) ? [] : place;
    // A superstep has ended, and so have the graphs in its tasks. Interrupts are sent while other tasks still execute.
    if (!isObject(values) || !('__interrupt__' in values)) this.#close(namespace, 'completed');
    this.#begin(namespace);
    if (isObject(values) && (namespace.length > 0 || !this.#hasRootStates)) this.#messages(namespace, values);
  }

  /** The run ends: subgraphs that it interrupts count as completed, as with LangGraph. */
  end(event: 'completed' | 'failed'): void {
    this.#close([], event);
  }

  #begin(namespace: Namespace): void {
    for (let length = 1; length <= namespace.length; length += 1) {
      const path = namespace.slice(0, length);
      const key = path.join('|');
      if (this.#open.has(key)) continue;
      this.#open.set(key, path);
      this.#lifecycle(path, 'started');
    }
  }

  #close(above: Namespace, event: 'completed' | 'failed'): void {
    if (this.#open.size === 0) return;
    for (const [key, namespace] of [...this.#open].reverse()) {
      if (namespace.length === above.length || above.some((segment, index) => namespace[index] !== segment))
        continue;
      this.#open.delete(key);
      this.#begun.delete(key);
      this.#lifecycle(namespace, event);
    }
  }

  #lifecycle(namespace: Namespace, event: string): void {
    const graph_name = namespace.at(-1)?.split(':')[0];
    this.#send('lifecycle', namespace, { event, graph_name });
  }

  #messages(namespace: Namespace, values: Record<string, unknown>): void {
    if ('__interrupt__' in values) return;
    const key = namespace.join('|');
    const isFirst = !this.#begun.has(key);
    this.#begun.add(key);
    for (const message of Object.values(values).flat()) {
      if (!isMessage(message) || message.id === undefined || this.#ids.has(message.id)) continue;
      this.#ids.add(message.id);
      if (!isFirst) this.#send('message', namespace, messageToWire(message));
    }
  }

  #send(method: string, namespace: Namespace, data: unknown): void {
    const event = [PROTOCOL_NOTE + method, ...namespace].join('|');
    this.#emit({ event, data: { namespace, timestamp: systemClock.now(), data } });
  }
}

import { Latch } from '../../core/latch.ts';
import { type EventFilter, wants } from './filter.ts';
import type { ProtocolEvent } from './protocol-events.ts';

/** Where events go: a connection of some kind. */
export interface EventSink {
  send(event: ProtocolEvent): void;
  /** More waits to be read than should be kept in memory. */
  isFull(): boolean;
  /** Resolves when there is room again, or on abort. */
  drained(signal: AbortSignal): Promise<void>;
}

interface Subscription {
  readonly filter: EventFilter;
  /** The number of the last event that was looked at for it. */
  last_seq: number;
  /** Events sent before it was even with the thread. */
  replayed: number;
  readonly onCaughtUp: (replayed: number) => void;
  isCaughtUp: boolean;
  /** False until events are read for it too: what others are told meanwhile is not the first it may hear. */
  isActive: boolean;
}

/** One connection with its subscriptions: each event goes out once, whichever of them want it. */
export class Subscriber {
  readonly #sink: EventSink;
  readonly #subscriptions = new Map<string, Subscription>();
  readonly #wakeup = new Latch();
  #needsReplay = false;

  constructor(sink: EventSink) {
    this.#sink = sink;
  }

  /**
   * From the event after number `since`, in place of a subscription that has this id already. Resolves to how many past
   * events were sent, when it is even or given up.
   */
  subscribe(id: string, filter: EventFilter, since: number): Promise<number> {
    this.unsubscribe(id);
    return new Promise((onEven) => {
      this.#subscriptions.set(id, {
        filter,
        last_seq: since,
        replayed: 0,
        onCaughtUp: onEven,
        isCaughtUp: false,
        isActive: false,
      });
      this.#needsReplay = true;
      this.#wakeup.open();
    });
  }

  /** False when there is no such subscription. */
  unsubscribe(id: string): boolean {
    const subscription = this.#subscriptions.get(id);
    subscription?.onCaughtUp(subscription.replayed);
    return this.#subscriptions.delete(id);
  }

  /** The number after which it must be given events; undefined when it wants none. */
  get lastSeq(): number | undefined {
    const positions = this.#active().map((subscription) => subscription.last_seq);
    return positions.length > 0 ? Math.min(...positions) : undefined;
  }

  offer(event: ProtocolEvent): void {
    const wanting = this.#active().filter(
      ({ last_seq, filter }) => event.seq > last_seq && wants(filter, event),
    );
    if (wanting.length === 0) return;
    for (const subscription of wanting) if (!subscription.isCaughtUp) subscription.replayed += 1;
    this.#sink.send(event);
    if (this.#sink.isFull()) this.#wakeup.open();
  }

  /** All events of this number were offered. */
  advance(seq: number): void {
    for (const subscription of this.#active()) {
      subscription.last_seq = Math.max(subscription.last_seq, seq);
    }
  }

  /** To be called before events are read for it from `seen` on. */
  beginReplay(): void {
    this.#needsReplay = false;
    for (const subscription of this.#subscriptions.values()) subscription.isActive = true;
  }

  /** A subscription came that wants events from before. */
  get needsReplay(): boolean {
    return this.#needsReplay;
  }

  /** It has all there was. */
  markCaughtUp(): void {
    for (const subscription of this.#active()) {
      if (subscription.isCaughtUp) continue;
      subscription.isCaughtUp = true;
      subscription.onCaughtUp(subscription.replayed);
    }
  }

  isFull(): boolean {
    return this.#sink.isFull();
  }

  #active(): Subscription[] {
    return [...this.#subscriptions.values()].filter(({ isActive }) => isActive);
  }

  drained(signal: AbortSignal): Promise<void> {
    return this.#sink.drained(signal);
  }

  /** Resolves when it cannot go on with the others: it is full, or wants something from before. Or on abort. */
  async untilLagging(signal: AbortSignal): Promise<void> {
    while (!signal.aborted && !this.#needsReplay && !this.#sink.isFull()) {
      await this.#wakeup.wait(LONG_MS, signal);
    }
  }
}

/** It is woken when something happens; the time only bounds a timer. */
const LONG_MS = 60_000;

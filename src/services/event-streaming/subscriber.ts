import { Latch } from '../../core/latch.ts';
import type { ProtocolEvent } from './events.ts';
import { type EventFilter, wants } from './filter.ts';

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
  seen: number;
  /** Events sent before it was even with the thread. */
  replayed: number;
  readonly onEven: (replayed: number) => void;
  isEven: boolean;
  /** False until events are read for it too: what others are told meanwhile is not the first it may hear. */
  hasBegun: boolean;
}

/** One connection with its subscriptions: each event goes out once, whichever of them want it. */
export class Subscriber {
  readonly #sink: EventSink;
  readonly #subscriptions = new Map<string, Subscription>();
  readonly #news = new Latch();
  #mustGoBack = false;

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
        seen: since,
        replayed: 0,
        onEven,
        isEven: false,
        hasBegun: false,
      });
      this.#mustGoBack = true;
      this.#news.open();
    });
  }

  /** False when there is no such subscription. */
  unsubscribe(id: string): boolean {
    const subscription = this.#subscriptions.get(id);
    subscription?.onEven(subscription.replayed);
    return this.#subscriptions.delete(id);
  }

  /** The number after which it must be given events; undefined when it wants none. */
  get seen(): number | undefined {
    const seen = this.#begun().map((subscription) => subscription.seen);
    return seen.length > 0 ? Math.min(...seen) : undefined;
  }

  offer(event: ProtocolEvent): void {
    const wanting = this.#begun().filter(({ seen, filter }) => event.seq > seen && wants(filter, event));
    if (wanting.length === 0) return;
    for (const subscription of wanting) if (!subscription.isEven) subscription.replayed += 1;
    this.#sink.send(event);
    if (this.#sink.isFull()) this.#news.open();
  }

  /** All events of this number were offered. */
  passed(seq: number): void {
    for (const subscription of this.#begun()) {
      subscription.seen = Math.max(subscription.seen, seq);
    }
  }

  /** To be called before events are read for it from `seen` on. */
  goesBack(): void {
    this.#mustGoBack = false;
    for (const subscription of this.#subscriptions.values()) subscription.hasBegun = true;
  }

  /** A subscription came that wants events from before. */
  get mustGoBack(): boolean {
    return this.#mustGoBack;
  }

  /** It has all there was. */
  isEven(): void {
    for (const subscription of this.#begun()) {
      if (subscription.isEven) continue;
      subscription.isEven = true;
      subscription.onEven(subscription.replayed);
    }
  }

  isFull(): boolean {
    return this.#sink.isFull();
  }

  #begun(): Subscription[] {
    return [...this.#subscriptions.values()].filter(({ hasBegun }) => hasBegun);
  }

  drained(signal: AbortSignal): Promise<void> {
    return this.#sink.drained(signal);
  }

  /** Resolves when it cannot go on with the others: it is full, or wants something from before. Or on abort. */
  async falls(signal: AbortSignal): Promise<void> {
    while (!signal.aborted && !this.#mustGoBack && !this.#sink.isFull()) {
      await this.#news.wait(LONG_MS, signal);
    }
  }
}

/** It is woken when something happens; the time only bounds a timer. */
const LONG_MS = 60_000;

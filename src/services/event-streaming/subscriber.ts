import { Latch } from '../../core/latch.ts';
import type { CheckAccess } from './authorization-gate.ts';
import { CommandError } from './command-errors.ts';
import type { EventFilter } from './filter.ts';
import { FilterIndex } from './filter-index.ts';
import type { ProtocolEvent } from './protocol-events.ts';

/** A connection that receives events. */
export interface EventSink {
  send(event: ProtocolEvent): void;
  /** Back-pressure: the send buffer is above its limit. */
  isFull(): boolean;
  /** Resolves when there is room again, or on abort. */
  drained(signal: AbortSignal): Promise<void>;
}

interface Subscription {
  readonly filter: EventFilter;
  /** Sequence number of the last event matched against the filter. */
  last_seq: number;
  /** Events sent before it caught up with the thread. */
  replayed: number;
  readonly onCaughtUp: (replayed: number) => void;
  isCaughtUp: boolean;
  /** `false` until its replay begins, so that live events for other subscriptions do not overtake it. */
  isActive: boolean;
}

/** Subscriptions of one connection. */
const MAX_SUBSCRIPTIONS = 100;
/** Namespaces of all of them. */
const MAX_NAMESPACES = 1024;

/** One connection with its subscriptions; an event is sent once even if several match. */
export class Subscriber {
  readonly #sink: EventSink;
  readonly #subscriptions = new Map<string, Subscription>();
  #filters = new FilterIndex<Subscription>();
  readonly #wakeup = new Latch();
  readonly #access: CheckAccess | undefined;
  readonly #refused = new AbortController();
  #needsReplay = false;
  /** The run whose events the subscriber may see. */
  #authorizedRun: string | undefined;
  #isMuted = false;

  /** `access`: `undefined` if the subscriber may see every thread. */
  constructor(sink: EventSink, { access }: { access?: CheckAccess | undefined } = {}) {
    this.#sink = sink;
    this.#access = access;
  }

  /** Aborts once the subscriber may no longer see the thread. */
  get refused(): AbortSignal {
    return this.#refused.signal;
  }

  /** `true` if events of this run need no further `authorize`. */
  isAuthorizedFor(run_id: string): boolean {
    return !this.#access || run_id === this.#authorizedRun;
  }

  /** Call after an event of the run was read and before it is offered; never rejects. */
  async authorize(run_id: string): Promise<void> {
    if (!this.#access || run_id === this.#authorizedRun) return;
    const found = await this.#access().catch(() => 'hidden');
    // A deleted thread has no owner to check against.
    this.#isMuted = found !== 'visible';
    this.#authorizedRun = found === 'visible' ? run_id : undefined;
    if (found === 'hidden') this.#refused.abort();
  }

  /**
   * Starts after event `since`, and replaces a subscription with the same id. Resolves to the number of replayed events
   * once it has caught up or is unsubscribed. Throws `CommandError` if the connection has too many.
   */
  subscribe(id: string, filter: EventFilter, since: number): Promise<number> {
    if (!this.#subscriptions.has(id) && this.#subscriptions.size >= MAX_SUBSCRIPTIONS) {
      throw new CommandError(
        'invalid_argument',
        `A connection may have at most ${MAX_SUBSCRIPTIONS} subscriptions.`,
      );
    }
    if (this.#namespacesExcept(id) + sizeOf(filter) > MAX_NAMESPACES) {
      throw new CommandError(
        'invalid_argument',
        `The subscriptions of a connection may have at most ${MAX_NAMESPACES} namespaces together.`,
      );
    }
    this.unsubscribe(id);
    return new Promise((onCaughtUp) => {
      const state = { last_seq: since, replayed: 0, isCaughtUp: false, isActive: false };
      const subscription = { filter, onCaughtUp, ...state };
      this.#subscriptions.set(id, subscription);
      this.#filters.add(filter, subscription);
      this.#needsReplay = true;
      this.#wakeup.open();
    });
  }

  /** Returns `false` if there is no such subscription. */
  unsubscribe(id: string): boolean {
    const subscription = this.#subscriptions.get(id);
    subscription?.onCaughtUp(subscription.replayed);
    const isDeleted = this.#subscriptions.delete(id);
    if (isDeleted) this.#mergeFilters();
    return isDeleted;
  }

  #mergeFilters(): void {
    this.#filters = new FilterIndex();
    for (const each of this.#subscriptions.values()) this.#filters.add(each.filter, each);
  }

  #namespacesExcept(id: string): number {
    const others = [...this.#subscriptions].filter(([other]) => other !== id);
    return others.reduce((sum, [, { filter }]) => sum + sizeOf(filter), 0);
  }

  /** Sequence number to read after; `undefined` without active subscriptions. */
  get lastSeq(): number | undefined {
    const positions = this.#active().map((subscription) => subscription.last_seq);
    return positions.length > 0 ? Math.min(...positions) : undefined;
  }

  offer(event: ProtocolEvent): void {
    if (this.#isMuted) return;
    const wanting = [...this.#filters.matching(event)].filter(
      ({ isActive, last_seq }) => isActive && event.seq > last_seq,
    );
    if (wanting.length === 0) return;
    for (const subscription of wanting) if (!subscription.isCaughtUp) subscription.replayed += 1;
    this.#sink.send(event);
    if (this.#sink.isFull()) this.#wakeup.open();
  }

  /** Records that all events up to `seq` were offered. */
  advance(seq: number): void {
    for (const subscription of this.#active()) {
      subscription.last_seq = Math.max(subscription.last_seq, seq);
    }
  }

  /** Call before replaying from `lastSeq`. */
  beginReplay(): void {
    this.#needsReplay = false;
    for (const subscription of this.#subscriptions.values()) subscription.isActive = true;
  }

  /** A new subscription requires past events. */
  get needsReplay(): boolean {
    return this.#needsReplay;
  }

  /** Resolves the subscriptions that have caught up. */
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

  /** Resolves when it must leave the broadcast: its sink is full or it needs a replay. Or on abort. */
  async untilLagging(signal: AbortSignal): Promise<void> {
    while (!signal.aborted && !this.#needsReplay && !this.#sink.isFull()) {
      await this.#wakeup.wait(LONG_MS, signal);
    }
  }
}

function sizeOf({ namespaces }: EventFilter): number {
  return namespaces?.length ?? 0;
}

/** The latch wakes it; the timeout only bounds the timer. */
const LONG_MS = 60_000;

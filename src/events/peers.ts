import type { Clock } from '../core/clock.ts';
import type { Presence } from './bus-messages.ts';

interface Peer {
  readonly presence: Presence | undefined;
  /** Monotonic ms. */
  readonly until: number;
}

/** The other processes on the bus: those that introduced themselves within the last `ttl_ms`. */
export class Peers {
  readonly #clock: Clock;
  readonly #ttl_ms: number;
  readonly #peers = new Map<string, Peer>();
  /** Turn of the next process to act, by what it must be able to do. */
  readonly #turns = { is_worker: 0, slots: 0 };

  constructor(clock: Clock, ttl_ms: number) {
    this.#clock = clock;
    this.#ttl_ms = ttl_ms;
  }

  /** As of the last `prune`: it is asked at each event. */
  get isEmpty(): boolean {
    return this.#peers.size === 0;
  }

  /** Whether any of them listens for changes. */
  get areWatching(): boolean {
    return [...this.#peers.values()].some(({ presence }) => presence?.watches === true);
  }

  has(id: string): boolean {
    return this.#peers.has(id);
  }

  add(id: string, presence: Presence | undefined): void {
    this.prune();
    this.#peers.set(id, { presence, until: this.#clock.monotonic() + this.#ttl_ms });
  }

  delete(id: string): void {
    this.#peers.delete(id);
  }

  /** The next process that can act, round-robin; `undefined` if there is none. */
  next(ability: 'is_worker' | 'slots'): string | undefined {
    this.prune();
    const able = [...this.#peers].filter(([, { presence }]) => Number(presence?.[ability] ?? 0) > 0);
    this.#turns[ability] += 1;
    return able[this.#turns[ability] % able.length]?.[0];
  }

  /** Forgets who gave no sign of life. */
  prune(): void {
    const now = this.#clock.monotonic();
    for (const [id, { until }] of this.#peers) if (until <= now) this.#peers.delete(id);
  }
}

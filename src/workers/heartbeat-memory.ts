import { threadMonotonic } from '../core/clock.ts';

/** Memory that the event loop and the heartbeat thread share; times in ms of `threadMonotonic`. */
export class HeartbeatMemory {
  readonly buffer: SharedArrayBuffer;
  readonly #values: BigInt64Array;

  constructor(buffer: SharedArrayBuffer = new SharedArrayBuffer(7 * BigInt64Array.BYTES_PER_ELEMENT)) {
    this.buffer = buffer;
    this.#values = new BigInt64Array(buffer);
  }

  /** Until when the lease lasts at least: counted from before the renewal was sent. */
  get held_until(): number {
    return Number(Atomics.load(this.#values, 0));
  }
  set held_until(ms: number) {
    Atomics.store(this.#values, 0, BigInt(Math.floor(ms)));
  }

  /** When the event loop last turned. */
  get turned_at(): number {
    return Number(Atomics.load(this.#values, 1));
  }
  turn(): void {
    Atomics.store(this.#values, 1, BigInt(Math.floor(threadMonotonic())));
  }

  /** When the thread last woke up, whether it could renew or not. */
  get beat_at(): number {
    return Number(Atomics.load(this.#values, 2));
  }
  beat(): void {
    Atomics.store(this.#values, 2, BigInt(Math.floor(threadMonotonic())));
  }

  /** How often the lease ended before it was renewed. */
  get lapses(): number {
    return Number(Atomics.load(this.#values, 3));
  }
  lapse(): void {
    Atomics.add(this.#values, 3, 1n);
  }

  /** How often the lease was renewed more than a heartbeat interval late. */
  get late_renewals(): number {
    return Number(Atomics.load(this.#values, 4));
  }
  renewLate(): void {
    Atomics.add(this.#values, 4, 1n);
  }

  /** Runs that the process may execute at the same time. */
  get slots(): number {
    return Number(Atomics.load(this.#values, 5));
  }
  set slots(count: number) {
    Atomics.store(this.#values, 5, BigInt(count));
  }

  /** When a heartbeat was sent that found nothing held by dead processes; 0 if none did, or if the last one found some. */
  get nothing_lost_at(): number {
    return Number(Atomics.load(this.#values, 6));
  }
  set nothing_lost_at(ms: number) {
    Atomics.store(this.#values, 6, BigInt(Math.floor(ms)));
  }
}

import { systemRandom } from '../core/backoff.ts';
import { after, type Timer } from '../core/timers.ts';

/**
 * Delay before a process looks for runs that were offered to another one first, ms, and its random part: idle workers
 * must not all claim at once.
 */
const SECOND_LOOK_MS = 15;
const SECOND_LOOK_SPREAD_MS = 30;

/** Time within which every other process has looked for runs that it was offered, ms. */
export const LOOKED_MS = SECOND_LOOK_MS + SECOND_LOOK_SPREAD_MS;

/** Calls `look` a moment after it was asked for; once, however often that was. */
export class SecondLook implements Disposable {
  readonly #look: () => void;
  #timer: Timer | undefined;

  constructor(look: () => void) {
    this.#look = look;
  }

  plan(): void {
    this.#timer ??= after(SECOND_LOOK_MS + systemRandom() * SECOND_LOOK_SPREAD_MS, () => {
      this.#timer = undefined;
      this.#look();
    });
  }

  [Symbol.dispose](): void {
    this.#timer?.[Symbol.dispose]();
  }
}

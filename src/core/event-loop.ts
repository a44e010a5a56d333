import { systemClock } from './clock.ts';

/** How long work that never waits may go on before timers, sockets and other runs get their turn, ms. */
const LONGEST_MS = 10;

/** Since when a turn of the event loop has been asked for; undefined when it has come. */
let asked_at: number | undefined;

/**
 * Waits for a turn of the event loop if there was none for a while, else for nothing. To be awaited at each step of
 * what may go on for long in promises that are all resolved: Node lets nothing else happen meanwhile.
 */
export function yieldTurn(): Promise<void> | undefined {
  const now = systemClock.monotonic();
  if (asked_at === undefined) {
    asked_at = now;
    setImmediate(() => {
      asked_at = undefined;
    });
  }
  return now - asked_at < LONGEST_MS ? undefined : nextTurn();
}

/** Lets timers, sockets and other runs have their turn: between two steps of which each may take some ms. */
export function nextTurn(): Promise<void> {
  return new Promise(setImmediate);
}

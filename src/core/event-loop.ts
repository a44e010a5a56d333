import { systemClock } from './clock.ts';

/** How long work that never waits may go on before timers, sockets and other runs get their turn, ms. */
const LONGEST_MS = 20;

/** A turn of the event loop that was asked for and has not come. */
let next: { readonly asked_at: number; readonly come: Promise<void> } | undefined;

/**
 * Waits for a turn of the event loop if there was none for a while, else for nothing. To be awaited at each step of
 * what may go on for long in promises that are all resolved: Node lets nothing else happen meanwhile.
 * All who wait go on together. With a turn for each the first would go on to its end before the second, and what they
 * write at their ends would no longer share a commit: a fifth more CPU for 16 runs of ten steps.
 */
export function yieldTurn(): Promise<void> | undefined {
  next ??= ask();
  return isLate(next) ? next.come : undefined;
}

/** Work that never waits has gone on for so long that others wait for their turn. */
export function isBusy(): boolean {
  return next !== undefined && isLate(next);
}

function isLate({ asked_at }: { readonly asked_at: number }): boolean {
  return systemClock.monotonic() - asked_at >= LONGEST_MS;
}

function ask(): typeof next & object {
  const come = nextTurn();
  // First of all who wait, so that they can ask for the next one.
  void come.then(() => {
    next = undefined;
  });
  return { asked_at: systemClock.monotonic(), come };
}

/** Lets timers, sockets and other runs have their turn: between two steps of which each may take some ms. */
export function nextTurn(): Promise<void> {
  return new Promise(setImmediate);
}

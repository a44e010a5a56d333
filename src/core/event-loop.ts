import { systemClock } from './clock.ts';

/** How long work that never waits may go on before timers, sockets and other runs get their turn, ms. */
const LONGEST_MS = 20;
/** A step that took that long is followed by a turn: the next one of the same work may take as long, ms. */
const LONG_STEP_MS = 4;

/** Since when a turn of the event loop has been asked for; undefined when it has come. */
let asked_at: number | undefined;
/** When the last step ended. */
let step_at = 0;
/** When somebody last had to wait. */
let forced_at = Number.NEGATIVE_INFINITY;
/** Who waits for a turn, in their order. */
const waiting = new Set<() => void>();
let isReleasing = false;

/**
 * Waits for a turn of the event loop if there was none for a while, else for nothing. To be awaited at each step of
 * what may go on for long in promises that are all resolved: Node lets nothing else happen meanwhile.
 */
export function yieldTurn(): Promise<void> | undefined {
  const now = systemClock.monotonic();
  if (asked_at === undefined) {
    asked_at = step_at = now;
    setImmediate(() => {
      asked_at = undefined;
    });
  }
  const isLongStep = now - step_at >= LONG_STEP_MS;
  step_at = now;
  // Short steps of many go on together, so that their writes share a commit.
  if (now - asked_at < LONGEST_MS && !isLongStep && !isReleasing) return undefined;
  forced_at = now;
  return new Promise((resolve) => {
    waiting.add(resolve);
    if (isReleasing) return;
    isReleasing = true;
    setImmediate(release);
  });
}

/** Work that never waits goes on for so long that others wait for their turn, or just had to. */
export function isBusy(): boolean {
  const now = systemClock.monotonic();
  return now - (asked_at ?? now) >= LONGEST_MS || now - forced_at < LONGEST_MS;
}

/** As many as may go on in one turn: Node would let thousands that were told of the same thing go on in one piece. */
async function release(): Promise<void> {
  let since = systemClock.monotonic();
  for (const goOn of waiting) {
    waiting.delete(goOn);
    const before = systemClock.monotonic();
    goOn();
    // Takes its step now.
    await undefined;
    const now = systemClock.monotonic();
    if (now - since < LONGEST_MS && now - before < LONG_STEP_MS) continue;
    await nextTurn();
    since = systemClock.monotonic();
  }
  isReleasing = false;
}

/** Lets timers, sockets and other runs have their turn: between two steps of which each may take some ms. */
export function nextTurn(): Promise<void> {
  return new Promise(setImmediate);
}

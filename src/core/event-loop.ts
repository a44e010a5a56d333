import { systemClock } from './clock.ts';

/** How long work that never waits may go on before timers, sockets and other runs get their turn, ms. */
const MAX_SLICE_MS = 20;
/** A step that took that long is followed by a turn: the next one of the same work may take as long, ms. */
const LONG_STEP_MS = 4;

/** Since when a turn of the event loop has been asked for; undefined when it has come. */
let requested_at: number | undefined;
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
export function yieldToEventLoop(): Promise<void> | undefined {
  const now = systemClock.monotonic();
  if (requested_at === undefined) {
    requested_at = step_at = now;
    setImmediate(() => {
      requested_at = undefined;
    });
  }
  const isLongStep = now - step_at >= LONG_STEP_MS;
  step_at = now;
  // Short steps of many go on together, so that their writes share a commit.
  if (now - requested_at < MAX_SLICE_MS && !isLongStep && !isReleasing) return undefined;
  forced_at = now;
  return new Promise((resolve) => {
    waiting.add(resolve);
    if (isReleasing) return;
    isReleasing = true;
    setImmediate(release);
  });
}

/** Work that never waits goes on for so long that others wait for their turn, or just had to. */
export function isEventLoopBusy(): boolean {
  const now = systemClock.monotonic();
  return now - (requested_at ?? now) >= MAX_SLICE_MS || now - forced_at < MAX_SLICE_MS;
}

/** As many as may go on in one turn: Node would let thousands that were told of the same thing go on in one piece. */
async function release(): Promise<void> {
  let since = systemClock.monotonic();
  for (const resume of waiting) {
    waiting.delete(resume);
    const before = systemClock.monotonic();
    resume();
    // Takes its step now.
    await undefined;
    const now = systemClock.monotonic();
    if (now - since < MAX_SLICE_MS && now - before < LONG_STEP_MS) continue;
    await immediate();
    since = systemClock.monotonic();
  }
  isReleasing = false;
}

/** Lets timers, sockets and other runs have their turn: between two steps of which each may take some ms. */
export function immediate(): Promise<void> {
  return new Promise(setImmediate);
}

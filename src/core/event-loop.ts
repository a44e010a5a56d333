import { performance } from 'node:perf_hooks';
import { systemClock } from './clock.ts';

/** Time slice of work that never waits, before timers, sockets and other runs get their turn, ms. */
const MAX_SLICE_MS = 20;
/** A step this long yields immediately: the next one of the same work may take as long, ms. */
const LONG_STEP_MS = 4;

/** When the pending turn of the event loop was requested; `undefined` if none is pending. */
let requested_at: number | undefined;
/** When the last step ended. */
let step_at = 0;
/** When a caller last had to wait. */
let forced_at = Number.NEGATIVE_INFINITY;
/** Callers waiting for a turn, FIFO. */
const waiting = new Set<() => void>();
let isReleasing = false;

/**
 * Waits for a turn of the event loop if there was none for a while, otherwise returns without waiting. Await it at each
 * step of long work whose promises are all resolved: microtasks alone starve timers and sockets. Where steps are as
 * short as a token, await it only if it is a promise: an `await` of nothing costs a microtask, too.
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
  // Short steps of many runs share one turn, so that their writes share a group commit.
  if (now - requested_at < MAX_SLICE_MS && !isLongStep && !isReleasing) return undefined;
  forced_at = now;
  return new Promise((resolve) => {
    waiting.add(resolve);
    if (isReleasing) return;
    isReleasing = true;
    setImmediate(release);
  });
}

/** True while work that never waits keeps others waiting for their turn, or did just now. */
export function isEventLoopBusy(): boolean {
  const now = systemClock.monotonic();
  return now - (requested_at ?? now) >= MAX_SLICE_MS || now - forced_at < MAX_SLICE_MS;
}

/** Share of its time from which on an event loop is saturated. */
const SATURATED = 0.8;

/** Measures from now on whether the event loop has hardly waited, as when many short runs share it. */
export function saturationMeter(): () => boolean {
  const before = performance.eventLoopUtilization();
  return () => performance.eventLoopUtilization(before).utilization >= SATURATED;
}

/** Resumes as many callers as fit into one turn: Node would resume thousands that wait for the same event in one go. */
async function release(): Promise<void> {
  let since = systemClock.monotonic();
  for (const resume of waiting) {
    waiting.delete(resume);
    const before = systemClock.monotonic();
    resume();
    // The resumed caller takes its step here.
    await undefined;
    const now = systemClock.monotonic();
    if (now - since < MAX_SLICE_MS && now - before < LONG_STEP_MS) continue;
    await immediate();
    since = systemClock.monotonic();
  }
  isReleasing = false;
}

let nextTurn: Promise<void> | undefined;

/** Resolves in the next turn of the event loop; all who wait for it share one promise. */
export function untilNextTurn(): Promise<void> {
  nextTurn ??= new Promise((resolve) =>
    setImmediate(() => {
      nextTurn = undefined;
      resolve();
    }),
  );
  return nextTurn;
}

/** Yields to timers, sockets and other runs: call it between steps that may each take some ms. */
export function immediate(): Promise<void> {
  return new Promise(setImmediate);
}

import { Socket } from 'node:net';
import { createInterface } from 'node:readline';
import { parentPort, workerData } from 'node:worker_threads';
import { systemClock } from '../../core/clock.ts';
import { tryOrUndefined } from '../../core/failure.ts';
import { after, every } from '../../core/timers.ts';
import { WATCH_FD } from '../protocol/descriptors.ts';
import type { HostStatus, Place } from '../protocol/watch.ts';
import { watchLease } from './lease.ts';
import { evaluateInMainThread } from './paused-main-thread.ts';
import {
  HEARTBEAT_MS,
  INSPECTED,
  PLACE_SYMBOL,
  RUNS,
  STOP_RUNS,
  STOPS,
  TURNS,
  type WatchData,
} from './watch.ts';

/** Delay after which the loop counts as blocked, ms. */
const BLOCKED_MS = 1000;
/** How long the blocked thread may take to say where it is, ms: it does not answer during a system call. */
const LOCATE_MS = 500;
/** Age at which a location is asked for again, ms: one turn of the loop may execute the code of several runs. */
const LOCATED_MS = 3000;
/** Time in which the event loop ends the process itself, ms. */
const ORPHAN_GRACE_MS = 1000;

const { shared, stops } = workerData as WatchData;
const counters = new Int32Array(shared);
let last_beat = Atomics.load(counters, TURNS);
let beat_at = systemClock.monotonic();
/** Where the loop is blocked: asked when a blocking begins, and again once that is old. */
let blockedAt: Promise<Place | undefined> | undefined;
let asked_at = beat_at;

every(HEARTBEAT_MS, () => {
  const beat = Atomics.load(counters, TURNS);
  if (beat === last_beat) return;
  last_beat = beat;
  beat_at = systemClock.monotonic();
  blockedAt = undefined;
});

async function status(locates: boolean): Promise<HostStatus> {
  // Breakpoints block the event loop on purpose, and a question where would resume the code.
  const isInspected = Atomics.load(counters, INSPECTED) === 1;
  const late_ms = isInspected ? 0 : Math.round(systemClock.monotonic() - beat_at);
  const blocked_ms = late_ms < BLOCKED_MS ? 0 : late_ms;
  if (blocked_ms > 0 && isToBeAsked()) blockedAt = askWhereBlocked(blockedAt);
  const place = await (blockedAt ?? (locates && !isInspected ? locate() : undefined));
  const rss_bytes = process.memoryUsage.rss();
  return { blocked_ms, late_ms, turns: last_beat, rss_bytes, ...(place && { place }) };
}

function isToBeAsked(): boolean {
  return blockedAt === undefined || systemClock.monotonic() - asked_at > LOCATED_MS;
}

/**
 * The location before, if there is no answer. It is not asked again at once: a question pauses the thread, and on a busy
 * machine one each second would keep it from making progress.
 */
async function askWhereBlocked(before: typeof blockedAt): Promise<Place | undefined> {
  return (await locate()) ?? (await before);
}

/** Asks the main thread for its location. */
function locate(): Promise<Place | undefined> {
  asked_at = systemClock.monotonic();
  const { promise, resolve } = Promise.withResolvers<Place | undefined>();
  const expression = `globalThis[Symbol.for(${JSON.stringify(PLACE_SYMBOL)})]?.()`;
  const question = evaluateInMainThread(expression, (text) => {
    timer[Symbol.dispose]();
    resolve(typeof text === 'string' ? tryOrUndefined(() => JSON.parse(text)) : undefined);
  });
  const timer = after(LOCATE_MS, () => {
    question[Symbol.dispose]();
    resolve(undefined);
  });
  return promise;
}

/** The main thread is told both ways: by the message once its event loop turns, and by the counter before that. */
function stopSessions(sessions: readonly number[]): void {
  stops.postMessage(sessions);
  Atomics.add(counters, STOPS, 1);
}

const link = new Socket({ fd: WATCH_FD, readable: true, writable: true });
const lines = createInterface(link).on('error', () => link.destroy());
lines.on('line', (line) => {
  if (line.startsWith('stop ')) return stopSessions(line.slice('stop '.length).split(' ').map(Number));
  void status(line === 'locate').then((answer) => link.write(`${JSON.stringify(answer)}\n`));
});
link.on('close', () => {
  after(ORPHAN_GRACE_MS, () => process.kill(process.pid, 'SIGKILL'));
});

watchLease({
  runs: () => Atomics.load(counters, RUNS),
  stopRuns: () => parentPort?.postMessage(STOP_RUNS),
});

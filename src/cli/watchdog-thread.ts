import { writeFileSync, writeSync } from 'node:fs';
import { workerData } from 'node:worker_threads';
import { systemClock } from '../core/clock.ts';
import type { LogFields } from '../core/logger.ts';
import { evaluateInMainThread } from '../core/paused-main-thread.ts';
import { userLocation } from '../core/stack-frames.ts';
import { every } from '../core/timers.ts';
import type { RunningNode } from '../graphs/observability/running-node.ts';
import { lineLogger } from './output.ts';
import { HEARTBEAT_MS, LOCATION_SYMBOL, type WatchdogData } from './watchdog.ts';

/** Delay after which the loop counts as blocked, ms. */
const BLOCKED_MS = 1000;

/** The code that blocks the loop; both undefined during a system call, which does not answer the debugger. */
interface Blocker {
  readonly node?: RunningNode;
  readonly stack?: string;
}

const { heartbeat, lines, fatal_ms, faulty_node_file } = workerData as WatchdogData;
const { warn, error } = await lineLogger(lines, writeNow);
const counter = new Int32Array(heartbeat);

/** Writes synchronously, because the event loop is blocked. Retries on a full pipe (EAGAIN). */
function writeNow(text: string): void {
  let left = Buffer.from(text);
  for (let tries = 0; left.length > 0 && tries < 50; tries++) {
    try {
      left = left.subarray(writeSync(1, left));
    } catch {
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10);
    }
  }
}

let last_beat = Atomics.load(counter, 0);
let since = systemClock.monotonic();
let last_tick = since;
let blockedLoop: BlockedLoop | undefined;

every(HEARTBEAT_MS, () => {
  const now = systemClock.monotonic();
  const beaten = Atomics.load(counter, 0);
  // A suspended machine delays this thread as well.
  const slept = now - last_tick > BLOCKED_MS;
  last_tick = now;
  if (beaten !== last_beat || slept || Atomics.load(counter, 1) === 1) {
    blockedLoop?.close(Math.round(now - since));
    blockedLoop = undefined;
    last_beat = beaten;
    since = now;
  } else if (now - since >= BLOCKED_MS) {
    blockedLoop ??= new BlockedLoop();
    if (fatal_ms !== undefined && now - since >= fatal_ms) blockedLoop.kill(Math.round(now - since));
  }
});

/** One blocking of the loop: asks the blocked thread for its location, and logs it. */
class BlockedLoop {
  #blocker: Blocker = {};
  readonly #question: Disposable;

  constructor() {
    const expression = `globalThis[Symbol.for(${JSON.stringify(LOCATION_SYMBOL)})]?.()`;
    this.#question = evaluateInMainThread(expression, (text) => {
      if (typeof text === 'string') this.#blocker = JSON.parse(text);
      warn('the event loop is blocked: the server cannot serve anything else', this.#fields());
    });
  }

  /** The loop runs again. */
  close(blocked_ms: number): void {
    this.#question[Symbol.dispose]();
    warn('the event loop was blocked', { ms: blocked_ms, ...this.#fields() });
  }

  /** Kills the process. Its runs resume in the next one, except the run of the blocking node. */
  kill(blocked_ms: number): void {
    const { node, stack } = this.#blocker;
    error('the event loop has been blocked for too long: restarting the server', {
      ms: blocked_ms,
      ...this.#fields(),
    });
    const what = `blocked the event loop for ${Math.round(blocked_ms / 1000)} s`;
    if (faulty_node_file !== undefined && node)
      writeFileSync(faulty_node_file, JSON.stringify({ ...node, what, at: userLocation(stack) }));
    process.kill(process.pid, 'SIGKILL');
  }

  #fields(): LogFields {
    const { node, stack } = this.#blocker;
    const fields = { ...node, at: userLocation(stack) };
    return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
  }
}

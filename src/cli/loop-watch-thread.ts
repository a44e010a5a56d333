import { writeFileSync, writeSync } from 'node:fs';
import { Session } from 'node:inspector';
import { workerData } from 'node:worker_threads';
import { systemClock } from '../core/clock.ts';
import { type LogFields, logger } from '../core/logger.ts';
import { every } from '../core/timers.ts';
import type { RunningNode } from '../graphs/observability/running-node.ts';
import { userLocation } from '../node/user-code.ts';
import { HEARTBEAT_MS, LOCATION_SYMBOL, type WatchdogData } from './loop-watch.ts';
import { jsonLine, readableLine } from './output.ts';

/** After so long the loop is called blocked, ms. */
const BLOCKED_MS = 1000;

/** Which code blocks the loop; both undefined while it does not answer, as a call into the operating system does not. */
interface Blocker {
  readonly node?: RunningNode;
  readonly stack?: string;
}

const { heartbeat, lines, fatal_ms, note } = workerData as WatchdogData;
const { warn, error } = logger(lines.level, (line) => {
  const now = systemClock.now();
  write(`${lines.json ? jsonLine(line, now) : readableLine(line, now, lines)}\n`);
});
const counter = new Int32Array(heartbeat);

/** A pipe that is full takes more a moment later. */
function write(text: string): void {
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
let looked = since;
let blockedLoop: BlockedLoop | undefined;

every(HEARTBEAT_MS, () => {
  const now = systemClock.monotonic();
  const beaten = Atomics.load(counter, 0);
  // A machine that slept held up this thread as well.
  const slept = now - looked > BLOCKED_MS;
  looked = now;
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

/** One time that the loop is blocked: asks the blocked thread where it is, as a debugger does, and says so. */
class BlockedLoop {
  readonly #session = new Session();
  #blocker: Blocker = {};

  constructor() {
    this.#session.connectToMainThread();
    this.#session.on('Debugger.paused', ({ params }) =>
      this.#inspect(params.callFrames[0]?.callFrameId ?? ''),
    );
    this.#session.post('Debugger.enable');
    this.#session.post('Debugger.pause');
  }

  /** It goes on. */
  close(blocked_ms: number): void {
    this.#session.disconnect();
    warn('the event loop was blocked', { ms: blocked_ms, ...this.#fields() });
  }

  /** Runs resume in the next process; the one whose node this is does not. */
  kill(blocked_ms: number): void {
    const { node, stack } = this.#blocker;
    error('the event loop is blocked for too long: the server restarts', {
      ms: blocked_ms,
      ...this.#fields(),
    });
    const what = `blocked the event loop for ${Math.round(blocked_ms / 1000)} s`;
    if (note !== undefined && node)
      writeFileSync(note, JSON.stringify({ ...node, what, at: userLocation(stack) }));
    process.kill(process.pid, 'SIGKILL');
  }

  #inspect(callFrameId: string): void {
    const expression = `globalThis[Symbol.for(${JSON.stringify(LOCATION_SYMBOL)})]?.()`;
    this.#session.post(
      'Debugger.evaluateOnCallFrame',
      { callFrameId, expression, returnByValue: true },
      (_error, answer) => {
        // At once: a process that exits waits for every debugger that is still there.
        this.#session.post('Debugger.resume', () => this.#session.disconnect());
        const text: unknown = answer?.result?.value;
        if (typeof text === 'string') this.#blocker = JSON.parse(text);
        warn('the event loop is blocked: nothing else is served', this.#fields());
      },
    );
  }

  #fields(): LogFields {
    const { node, stack } = this.#blocker;
    const fields = { ...node, at: userLocation(stack) };
    return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
  }
}

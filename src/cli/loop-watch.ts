import inspector from 'node:inspector';
import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { every } from '../core/timers.ts';
import type { RunningNode } from '../graphs/observability/running-node.ts';
import { deepStack } from '../node/user-code.ts';
import type { LineFormat } from './config.ts';

export interface WatchdogOptions {
  /** How its lines are written. */
  readonly lines: LineFormat;
  /** A loop that is blocked for so long, in ms, is given up: the process is killed. Never without it. */
  readonly fatal_ms?: number;
  /** Where the node that blocked it is written then, as JSON of a `FaultyNode`. */
  readonly note?: string;
}

export interface WatchdogData extends WatchdogOptions {
  /** A number that changes while the event loop turns, and whether a debugger is attached. */
  readonly heartbeat: SharedArrayBuffer;
}

/** What the thread asks the blocked code by; a global, for it has nothing else of this thread. */
export const LOCATION_SYMBOL = 'agent-server.where';
export const HEARTBEAT_MS = 250;

// The same folder and ending as this file: TypeScript in the repository, JavaScript in the package.
const PROGRAM = fileURLToPath(new URL(`./loop-watch-thread${extname(import.meta.url)}`, import.meta.url));

/**
 * A thread that says when the event loop is blocked, by which run, node and line: the blocked thread itself cannot say
 * anything. It stands aside when a debugger is attached, whose breakpoints block the loop on purpose.
 */
export function watchEventLoop(
  options: WatchdogOptions,
  runningNode: () => RunningNode | undefined,
): Disposable {
  const heartbeat = new SharedArrayBuffer(2 * Int32Array.BYTES_PER_ELEMENT);
  const counter = new Int32Array(heartbeat);
  const where = Symbol.for(LOCATION_SYMBOL);
  const place = globalThis as { [where]?: () => string };
  place[where] = () => JSON.stringify({ node: runningNode(), stack: deepStack('blocked') });
  const timer = every(HEARTBEAT_MS, () => {
    Atomics.store(counter, 1, inspector.url() === undefined ? 0 : 1);
    Atomics.add(counter, 0, 1);
  }).unref();
  const thread = new Worker(PROGRAM, {
    workerData: { ...options, heartbeat } satisfies WatchdogData,
  });
  thread.unref();
  return {
    [Symbol.dispose]() {
      timer[Symbol.dispose]();
      delete place[where];
      void thread.terminate();
    },
  };
}

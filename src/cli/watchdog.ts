import inspector from 'node:inspector';
import { Worker } from 'node:worker_threads';
import { programFile } from '../core/package-files.ts';
import { every } from '../core/timers.ts';
import type { RunningNode } from '../graphs/observability/running-node.ts';
import { deepStack } from '../graphs/observability/user-code.ts';
import type { LineFormat } from './output.ts';

export interface WatchdogOptions {
  /** Format of its log lines. */
  readonly lines: LineFormat;
  /** Kills the process after the loop was blocked this long, ms; undefined: never. */
  readonly fatal_ms?: number;
  /** File for the blocking node, written before the kill, as JSON of a `FaultyNode`. */
  readonly faulty_node_file?: string;
}

export interface WatchdogData extends WatchdogOptions {
  /** A counter that the event loop increments, and a flag for an attached debugger. */
  readonly heartbeat: SharedArrayBuffer;
}

/** Global through which the watchdog evaluates the location: only globals are in scope. */
export const LOCATION_SYMBOL = 'agent-server.where';
export const HEARTBEAT_MS = 250;

const PROGRAM = programFile('cli/watchdog-thread');

/**
 * Watchdog thread: logs the run, node and line that block the event loop, which the blocked thread cannot do itself.
 * Inactive while a debugger is attached, because breakpoints block the loop on purpose.
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
    // It allocates next to nothing; V8's default grows to 128 MB.
    resourceLimits: { maxYoungGenerationSizeMb: 2 },
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

import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { every } from '../../core/timers.ts';
import type { RunningNode } from '../../graphs/observability/running-node.ts';
import { deepStack, userLocation } from '../../graphs/observability/user-code.ts';
import type { Place } from '../protocol/watch.ts';

export interface WatchData {
  /** A counter that the event loop increments. */
  readonly heartbeat: SharedArrayBuffer;
}

/** Global by which the watch evaluates the location: in the blocked frame, only globals are in scope. */
export const PLACE_SYMBOL = 'agent-server.place';
export const HEARTBEAT_MS = 250;

// TypeScript in the repository, JavaScript in the package.
const PROGRAM = fileURLToPath(new URL(`./watch-thread${extname(import.meta.url)}`, import.meta.url));

/**
 * Starts the thread that answers the server while this thread's event loop is blocked, and that ends the process once
 * the server is gone. `runningNode` is known only after LangChain has loaded.
 */
export function startWatch(runningNode: () => RunningNode | undefined): void {
  const heartbeat = new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT);
  const counter = new Int32Array(heartbeat);
  every(HEARTBEAT_MS, () => Atomics.add(counter, 0, 1)).unref();
  const place = (): string => JSON.stringify(placeOf(runningNode(), deepStack('blocked')));
  Object.assign(globalThis, { [Symbol.for(PLACE_SYMBOL)]: place });
  const workerData: WatchData = { heartbeat };
  new Worker(PROGRAM, { workerData, resourceLimits: { maxYoungGenerationSizeMb: 2 } }).unref();
}

/** `stack`: of the code that executes. */
export function placeOf(node: RunningNode | undefined, stack: string | undefined): Place {
  return { ...node, at: userLocation(stack) };
}

import inspector from 'node:inspector';
import { MessageChannel, type MessagePort, receiveMessageOnPort, Worker } from 'node:worker_threads';
import { programFile } from '../../core/package-files.ts';
import { userLocation } from '../../core/stack-frames.ts';
import { every } from '../../core/timers.ts';
import type { RunningNode } from '../../graphs/observability/running-node.ts';
import { deepStack } from '../../graphs/observability/user-code.ts';
import type { Place } from '../protocol/watch.ts';

export interface WatchData {
  /** Counters: of turns of the event loop, of the runs that execute, of messages on `stops`; and `INSPECTED`. */
  readonly shared: SharedArrayBuffer;
  /** Carries lists of sessions whose runs were taken from this process. */
  readonly stops: MessagePort;
}

/** Global through which the watch evaluates the location: only globals are in scope. */
export const PLACE_SYMBOL = 'agent-server.place';
export const HEARTBEAT_MS = 250;
/** Indices of the counters. */
export const TURNS = 0;
export const RUNS = 1;
export const STOPS = 2;
/** 1 while the process has a debugger. */
export const INSPECTED = 3;
/** Message of the thread when the runs must stop. */
export const STOP_RUNS = 'stop runs';

const PROGRAM = programFile('hosts/host/watch-thread');

/**
 * Starts the thread that answers the server while this thread's event loop is blocked, and that ends the process once
 * the server is gone. `runningNode` is known only after LangChain has loaded.
 */
export function startWatch(runningNode: () => RunningNode | undefined): Watch {
  const shared = new SharedArrayBuffer(4 * Int32Array.BYTES_PER_ELEMENT);
  const counters = new Int32Array(shared);
  const { port1: stopped, port2: stops } = new MessageChannel();
  let known = 0;
  let stopTaken: (sessions: readonly number[]) => void = () => {};
  const look = () => {
    const count = Atomics.load(counters, STOPS);
    if (count === known) return;
    known = count;
    for (let found = receiveMessageOnPort(stopped); found; found = receiveMessageOnPort(stopped))
      stopTaken(found.message);
  };
  every(HEARTBEAT_MS, () => {
    Atomics.store(counters, INSPECTED, inspector.url() === undefined ? 0 : 1);
    Atomics.add(counters, TURNS, 1);
    look();
  }).unref();
  const place = (): string => JSON.stringify(placeOf(runningNode(), deepStack('blocked')));
  Object.assign(globalThis, { [Symbol.for(PLACE_SYMBOL)]: place });
  const workerData = { shared, stops } satisfies WatchData;
  // It allocates next to nothing; V8's default grows to 128 MB.
  const resourceLimits = { maxYoungGenerationSizeMb: 2 };
  const thread = new Worker(PROGRAM, { workerData, transferList: [stops], resourceLimits });
  thread.unref();
  return {
    countRuns: (count) => void Atomics.store(counters, RUNS, count),
    onLeaseEnds(stopRuns) {
      thread.on('message', (message) => message === STOP_RUNS && stopRuns());
      thread.unref();
    },
    onTaken(stop) {
      stopTaken = stop;
    },
    look,
  };
}

/** What the event loop and the thread that watches it know of each other. */
export interface Watch {
  countRuns(count: number): void;
  /** Calls `stopRuns` when the lease of the server is about to end. */
  onLeaseEnds(stopRuns: () => void): void;
  /** Calls `stop` with the sessions whose runs the server has taken from this process. */
  onTaken(stop: (sessions: readonly number[]) => void): void;
  /**
   * Calls it now if there are any. Where a run is about to begin a step or to write: while the event loop was blocked, no
   * message about them has arrived.
   */
  look(): void;
}

/** `stack`: of the code that executes. */
export function placeOf(node: RunningNode | undefined, stack: string | undefined): Place {
  return { ...node, at: userLocation(stack) };
}

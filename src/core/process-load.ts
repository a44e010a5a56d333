import { totalmem } from 'node:os';
import { performance } from 'node:perf_hooks';
import { getHeapStatistics } from 'node:v8';

/** Load of a process: event loop and memory. */
export interface ProcessLoad {
  /** Share of the time since the measurement before in which the event loop did not wait, 0–1. */
  readonly recent: number;
  /** The same over about the last third of a second, later measurements weighing more. */
  readonly average: number;
  /** Time since the measurement before, ms. */
  readonly window_ms: number;
  readonly heap_bytes: number;
  /** Heap limit of V8. */
  readonly heap_limit_bytes: number;
  readonly rss_bytes: number;
}

/** The load to assume of a process that does not answer. */
export const BUSY: ProcessLoad = {
  recent: 1,
  average: 1,
  window_ms: 0,
  heap_bytes: 0,
  heap_limit_bytes: 0,
  rss_bytes: 0,
};

/** Time constant of the average, ms. */
const AVERAGE_MS = 300;

/** Measures this thread's event loop and this process's memory; each call, since the one before. Costs 50 µs. */
export function loadMeter(): () => ProcessLoad {
  let before = performance.eventLoopUtilization();
  let average = 0;
  return () => {
    const now = performance.eventLoopUtilization();
    const { active, idle, utilization: recent } = performance.eventLoopUtilization(now, before);
    before = now;
    const window_ms = active + idle;
    average += (recent - average) * (1 - Math.exp(-window_ms / AVERAGE_MS));
    const heap = getHeapStatistics();
    return {
      recent,
      average,
      window_ms,
      heap_bytes: heap.used_heap_size,
      heap_limit_bytes: heap.heap_size_limit,
      rss_bytes: process.memoryUsage.rss(),
    };
  };
}

/** Memory that the processes of this container, or of this machine without one, may have together, bytes. */
export function memoryLimit(): number {
  // Without a limit the kernel reports none, or one beyond any machine.
  const constrained = process.constrainedMemory();
  const machine = totalmem();
  return constrained > 0 && constrained < machine ? constrained : machine;
}

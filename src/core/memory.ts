import { type EventLoopUtilization, PerformanceObserver, performance } from 'node:perf_hooks';
import { getHeapSpaceStatistics, getHeapStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { every } from './timers.ts';

const MB = 1024 ** 2;

/** Young generation of a busy process: two semi-spaces of 16 MB. With V8's 64 MB, a run costs no less CPU. */
const SEMI_SPACE_BYTES = 16 * MB;
/** The heap may double between two full collections; V8 lets it grow fourfold. */
const HEAP_GROWTH_PERCENT = 100;

const CHECK_MS = 1000;
/** Share of time below which the event loop counts as idle. */
const IDLE_UTILIZATION = 0.1;
/** Idle checks in a row before a collection. */
const IDLE_CHECKS = 2;
/** Least growth since the last collection that is worth another one. */
const MIN_GARBAGE_BYTES = 16 * MB;
const MIN_GARBAGE_SHARE = 0.2;
/** A full collection pauses for about a millisecond per megabyte: larger heaps are left to V8. */
const MAX_HEAP_BYTES = 256 * MB;

/**
 * Keeps the heap of a serving process small, and returns memory after start-up and after load. V8 by itself lets the
 * young generation grow to 128 MB and the heap to four times what is alive, and does not collect while nothing is
 * allocated. The flags are those of the whole process: not for a program that embeds the server.
 */
export function manageMemory(): Disposable {
  setFlagsFromString(`--heap-growing-percent=${HEAP_GROWTH_PERCENT}`);
  const limit = limitYoungGeneration();
  const timer = collectWhenIdle();
  return {
    [Symbol.dispose]() {
      limit?.disconnect();
      timer[Symbol.dispose]();
    },
  };
}

/** `--max-semi-space-size` counts only when a process starts; how fast the space grows can be set at any time. */
function limitYoungGeneration(): PerformanceObserver | undefined {
  const given = [...process.execArgv, process.env.NODE_OPTIONS ?? ''].join(' ');
  if (/semi.space/.test(given)) {
    setFlagsFromString('--semi-space-growth-factor=2');
    return undefined;
  }
  let factor: number | undefined;
  const adjust = () => {
    const wanted = semiSpaceBytes() * 2 <= SEMI_SPACE_BYTES ? 2 : 1;
    if (wanted !== factor) setFlagsFromString(`--semi-space-growth-factor=${wanted}`);
    factor = wanted;
  };
  adjust();
  // The space grows after a collection of the young generation and shrinks after a full one.
  const observer = new PerformanceObserver(adjust);
  observer.observe({ entryTypes: ['gc'] });
  return observer;
}

function semiSpaceBytes(): number {
  const space = getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space');
  return (space?.space_size ?? 0) / 2;
}

/** Collects garbage once the event loop is idle, which also shrinks the young generation. */
function collectWhenIdle(): Disposable {
  let before: EventLoopUtilization = performance.eventLoopUtilization();
  let idle_checks = 0;
  let live_bytes = 0;
  return every(CHECK_MS, () => {
    const now = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(now, before);
    before = now;
    idle_checks = utilization < IDLE_UTILIZATION ? idle_checks + 1 : 0;
    const { used_heap_size } = getHeapStatistics();
    // V8 has collected meanwhile.
    live_bytes = Math.min(live_bytes, used_heap_size);
    const garbage_bytes = used_heap_size - live_bytes;
    const isWorthIt = garbage_bytes > Math.max(MIN_GARBAGE_BYTES, live_bytes * MIN_GARBAGE_SHARE);
    if (idle_checks < IDLE_CHECKS || !isWorthIt || used_heap_size > MAX_HEAP_BYTES) return;
    collect();
    live_bytes = getHeapStatistics().used_heap_size;
  }).unref();
}

let collector: (() => void) | undefined;

function collect(): void {
  if (collector === undefined) {
    setFlagsFromString('--expose-gc');
    // Only contexts made from now on have it.
    collector = runInNewContext('gc') as () => void;
    setFlagsFromString('--no-expose-gc');
  }
  collector();
}

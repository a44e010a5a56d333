import { getHeapStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { systemClock } from './clock.ts';
import { every } from './timers.ts';

const MB = 1024 ** 2;

const CHECK_MS = 1000;
/** CPU below which a process counts as idle, in cores. */
const IDLE_CORES = 0.1;
/** How long a process is idle before a collection, ms: what comes right after one compiles code anew. */
const IDLE_MS = 30_000;
/** Least growth since the last collection that is worth another one. */
const MIN_GARBAGE_BYTES = 16 * MB;
const MIN_GARBAGE_SHARE = 0.2;
/** Checks until a second collection: V8 returns all pages of a large heap only then. */
const REPEAT_CHECKS = 10;
/** A full collection pauses for about a millisecond per megabyte that is alive: if it is more, it is left to V8. */
const MAX_LIVE_BYTES = 256 * MB;
/** Live memory is known only after a collection, and most of a heap that has grown under load is garbage. */
const MAX_HEAP_BYTES = 512 * MB;

/**
 * Collects garbage once the process is idle, which also shrinks the young generation: V8 by itself does not collect
 * while nothing is allocated, and keeps what the start and the last load took. Smaller limits for a busy process
 * (young generation, growth of the heap) cost a fifth of the CPU of a run. Idle is measured by CPU: on a busy machine an
 * event loop that waits for a core looks busy.
 */
export function returnMemoryWhenIdle(idle_ms = IDLE_MS): Disposable {
  let used_ms = cpuMs();
  let checked_at = systemClock.monotonic();
  let idle_checks = 0;
  let live_bytes = 0;
  let repeat_at: number | undefined;
  return every(CHECK_MS, () => {
    const [used_before, checked_before] = [used_ms, checked_at];
    used_ms = cpuMs();
    checked_at = systemClock.monotonic();
    const cores = (used_ms - used_before) / (checked_at - checked_before);
    idle_checks = cores < IDLE_CORES ? idle_checks + 1 : 0;
    const { used_heap_size } = getHeapStatistics();
    // V8 has collected meanwhile.
    live_bytes = Math.min(live_bytes, used_heap_size);
    const garbage_bytes = used_heap_size - live_bytes;
    const isWorthIt = garbage_bytes > Math.max(MIN_GARBAGE_BYTES, live_bytes * MIN_GARBAGE_SHARE);
    if (idle_checks * CHECK_MS < idle_ms || live_bytes > MAX_LIVE_BYTES || used_heap_size > MAX_HEAP_BYTES)
      return;
    if (!isWorthIt && idle_checks !== repeat_at) return;
    collect();
    // Its own time is not activity: the second one would wait for another idle half minute.
    used_ms = cpuMs();
    checked_at = systemClock.monotonic();
    repeat_at = isWorthIt ? idle_checks + REPEAT_CHECKS : undefined;
    live_bytes = getHeapStatistics().used_heap_size;
  }).unref();
}

/** CPU time of all threads of the process. */
function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

let collector: (() => void) | undefined;

function collect(): void {
  if (collector === undefined) {
    setFlagsFromString('--expose-gc');
    // Only contexts created from now on have it.
    collector = runInNewContext('gc') as () => void;
    setFlagsFromString('--no-expose-gc');
  }
  collector();
}

/** Runs that `auto` always admits, as a process did that knew nothing of its load. */
export const AUTO_FLOOR = 10;
/** Runs of a process that `auto` admits at most, whatever they do: each has its state in memory. */
export const AUTO_CEILING = 1000;

/**
 * Delay before a process looks for runs that were offered to another one first, ms: idle workers must not all claim at
 * once.
 */
export const MIN_LOOK_MS = 15;
/** Time within which every other process has looked for them, ms. */
export const MAX_LOOK_MS = 45;

/** Memory with a limit. */
export interface MemoryUse {
  readonly used_bytes: number;
  readonly limit_bytes: number;
}

/** What the processes that execute the runs do. */
export interface LoadNow {
  /** Share of the time since the last decision in which their event loops did not wait, 0–1. */
  readonly recent: number;
  /** The same over about the last third of a second. */
  readonly average: number;
  /** How late a timer fired, or an answer came, ms: the machine may be busy with other processes. */
  readonly late_ms: number;
  readonly memory: readonly MemoryUse[];
  /** More statements wait for a connection than there are connections. */
  readonly is_database_busy: boolean;
}

/** Runs that wait leave the event loop idle right after they have begun. */
const MAX_RECENT = 0.9;
/** Beyond this, requests and streams begin to wait for runs. */
const MAX_AVERAGE = 0.9;
const MAX_LATE_MS = 100;
/** Share of a limit of memory that `auto` fills: runs that wait now will need more later. */
const MAX_MEMORY = 0.75;

/** How many of `wanted` further runs may start now, given `running` ones; there are `AUTO_FLOOR` or more of those. */
export function admissible(running: number, wanted: number, load: LoadNow): number {
  const { recent, average, late_ms, is_database_busy } = load;
  if (recent > MAX_RECENT || average > MAX_AVERAGE || late_ms > MAX_LATE_MS || is_database_busy) return 0;
  const most = Math.min(AUTO_CEILING, ...load.memory.map((memory) => fitting(running, memory)));
  return Math.max(0, Math.min(wanted, most - running));
}

/**
 * Runs that fit if all memory in use were that of the running ones. That is too much per run while there are few, so that
 * the first batches are small where memory is scarce.
 */
function fitting(running: number, { used_bytes, limit_bytes }: MemoryUse): number {
  return used_bytes > 0 ? Math.floor((running * MAX_MEMORY * limit_bytes) / used_bytes) : AUTO_CEILING;
}

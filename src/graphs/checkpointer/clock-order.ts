import { systemClock } from '../../core/clock.ts';
import { ClockBehind } from '../../core/errors.ts';
import { uuid6Time } from '../../core/ids.ts';
import { sleep } from '../../core/timers.ts';

/**
 * LangGraph makes the ids of checkpoints from the system clock, and the highest id of a thread is its newest checkpoint.
 * On a clock that is behind, new checkpoints would sort before older ones, and nothing would continue from them.
 */

/** Longest wait for a clock that is a little behind that of another server, ms; otherwise the run returns to the queue. */
const MAX_WAIT_MS = 1000;
/** Timers may fire early by the wall clock, ms. */
const MARGIN_MS = 2;

/** Waits while the clock is behind the newest checkpoint of a thread by at most a second, or until the signal aborts. */
export async function waitForClock(newest_id: string | null, signal?: AbortSignal): Promise<void> {
  const behind_ms = msBehind(newest_id);
  if (behind_ms >= 0 && behind_ms <= MAX_WAIT_MS) await sleep(behind_ms + MARGIN_MS, signal);
}

/** Throws `ClockBehind` if a checkpoint made now would sort before the newest one of its thread. */
export function requireClock(newest_id: string | null): void {
  const behind_ms = msBehind(newest_id);
  if (behind_ms < 0) return;
  const seconds = (behind_ms / 1000).toFixed(1);
  throw new ClockBehind(
    `The clock of the server is ${seconds} s behind the newest checkpoint of the thread: synchronize the clocks of all servers with NTP. If that checkpoint was written with a wrong clock, copy the values to a new thread.`,
    behind_ms,
  );
}

/** Throws `ClockBehind` if a checkpoint sorts before its parent: the clock was set back in between. */
export function requireOrder(parent_id: string | null, checkpoint_id: string): void {
  if (parent_id === null || checkpoint_id >= parent_id) return;
  const [before, after] = [uuid6Time(parent_id), uuid6Time(checkpoint_id)];
  if (before === undefined || after === undefined) return;
  const seconds = ((before - after) / 1000).toFixed(1);
  throw new ClockBehind(
    `The clock of the server was set back by ${seconds} s: synchronize it with NTP.`,
    before - after,
  );
}

/** Negative if the clock is past the time of the checkpoint, or if its id contains no time. */
function msBehind(checkpoint_id: string | null): number {
  const made_at = checkpoint_id === null ? undefined : uuid6Time(checkpoint_id);
  return made_at === undefined ? -1 : made_at - systemClock.now();
}

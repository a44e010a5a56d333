import { momentOf, timestamp } from '../core/clock.ts';
import { nextRun } from '../core/cron-times.ts';
import type { StoredCron } from '../storage/crons/row.ts';

type Scheduled = Pick<StoredCron, 'schedule' | 'timezone' | 'ends_at' | 'enabled'>;

/** The first time after `from_ms` that the cron makes a run; null when it is paused or will be over. */
export function nextDate(
  { enabled, schedule, timezone, ends_at }: Scheduled,
  from_ms: number,
): string | null {
  if (!enabled) return null;
  const next = nextRun(schedule, timezone, from_ms);
  return next === undefined ? null : unlessOver(timestamp(next), ends_at);
}

/** Null when the date is after the end; the last run may be at the end itself. */
export function unlessOver(date: string, ends_at: string | null): string | null {
  return ends_at !== null && date > ends_at ? null : date;
}

/** When a cron with this `end_time` is over. */
export function endsAt(end_time: string | null): string | null {
  return end_time === null ? null : timestamp(momentOf(end_time));
}

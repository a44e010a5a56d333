import { Cron } from 'croner';
import { InvalidInput } from './errors.ts';

/** The shortest names of common schedules, which stand for five fields. */
const MACROS = ['@yearly', '@annually', '@monthly', '@weekly', '@daily', '@midnight', '@hourly'];

/**
 * Throws `InvalidInput` for what is neither five fields nor one of the names, for a schedule that never comes, such as
 * the 31st of February, and for a time zone that is none (CONTRACT §2.5).
 */
export function checkSchedule(schedule: string, timezone: string | null): void {
  if (timezone !== null && !isTimezone(timezone)) {
    throw new InvalidInput(
      `Invalid timezone: '${timezone}'. Use IANA timezone format, such as 'Europe/Berlin' or 'America/New_York'.`,
    );
  }
  const reason = invalidReason(schedule);
  if (reason) throw new InvalidInput(`Invalid cron schedule: '${schedule}'. Reason: ${reason}`);
}

/**
 * The first time after `from_ms` that a schedule means in its time zone (IANA; null: UTC), epoch ms; undefined when
 * there is none. Where clocks go forward, a schedule without `*` or a step in its minutes and hours that falls into the
 * gap comes once, right after it, and others leave the gap out. Where they go back, the former comes the first time
 * only, and others each time. That is what Vixie's cron does. Throws `InvalidInput` for what `checkSchedule` refuses now,
 * such as a time zone that this machine does not know.
 */
export function nextCronTime(schedule: string, timezone: string | null, from_ms: number): number | undefined {
  try {
    return parseCron(schedule, timezone).nextRun(new Date(from_ms))?.getTime();
  } catch (error) {
    const reason = (error as Error).message;
    throw new InvalidInput(`Invalid cron schedule: '${schedule}'. Reason: ${reason}`, { cause: error });
  }
}

/** Nothing runs by it: without a function it only calculates. */
function parseCron(schedule: string, timezone: string | null): Cron {
  return new Cron(schedule, { timezone: timezone ?? 'UTC', mode: '5-part', fixedTimeRule: 'no-wildcard' });
}

function invalidReason(schedule: string): string | undefined {
  const fields = schedule.trim().split(/\s+/);
  const isName = fields.length === 1 && MACROS.includes(schedule.trim().toLowerCase());
  // The library also takes a date for a schedule, and names that are no times.
  if (fields.length !== 5 && !isName) {
    const given = fields.length === 6 ? ', without the seconds in front' : '';
    return `it needs five fields: minute, hour, day of month, month, day of week${given}; or one of ${MACROS.join(', ')}`;
  }
  try {
    return parseCron(schedule, null).nextRun(new Date(0)) === null
      ? 'it never comes: no month has such a day'
      : undefined;
  } catch (error) {
    const { message } = error as Error;
    // Days and months are counted from 0 there.
    return message.replace(/^CronPattern: /, '').replace(/^(Invalid value for (?:day|month)): .*/, '$1');
  }
}

function isTimezone(name: string): boolean {
  // An offset such as +02:00 knows no summer time, and is no name.
  if (!/^[A-Za-z]/.test(name)) return false;
  try {
    new Intl.DateTimeFormat('en', { timeZone: name });
    return true;
  } catch {
    return false;
  }
}

import { Cron } from 'croner';
import { parseTimestamp, timestamp } from './clock.ts';
import { InvalidInput } from './errors.ts';

/** Nicknames of common schedules, accepted in place of five fields. */
const MACROS = ['@yearly', '@annually', '@monthly', '@weekly', '@daily', '@midnight', '@hourly'];

/** Schedule of a single time: the prefix, and the time in ISO-8601. */
const ONCE = '@at ';
/** Both databases sort times as text, which is in order for years of four digits. */
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)$/;
/** Where the times end that both databases sort as text, epoch ms; an offset can move a time of the last year there. */
export const END_OF_TIME = Date.UTC(10_000, 0);

/** The schedule that fires once, at a time in ISO-8601; without an offset it is in UTC. */
export function scheduleAt(time: string): string {
  return `${ONCE}${timestamp(parseTimestamp(time))}`;
}

/** Epoch ms of a schedule that fires once; `undefined` for a repeating one. */
function onceAt(schedule: string): number | undefined {
  if (!schedule.startsWith(ONCE)) return undefined;
  const text = schedule.slice(ONCE.length);
  const time = TIME.test(text) ? Date.parse(text) : Number.NaN;
  return time < END_OF_TIME ? time : undefined;
}

/**
 * Throws `InvalidInput` for anything but five fields, a nickname or a single time, for a schedule that never fires, such as the 31st
 * of February, and for an unknown time zone (contract §2.5).
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
 * The first time after `from_ms` at which a schedule fires in its time zone (IANA; null: UTC), epoch ms; `undefined` if
 * never. Daylight saving follows Vixie cron. When clocks go forward, a schedule without `*` or a step in minutes and
 * hours that falls into the gap fires once, right after it; others skip the gap. When clocks go back, the former fires
 * the first time only, others both times. Throws `InvalidInput` for what `checkSchedule` rejects, such as a time zone
 * unknown to this machine.
 */
export function nextCronTime(schedule: string, timezone: string | null, from_ms: number): number | undefined {
  const once = onceAt(schedule);
  if (once !== undefined) return once > from_ms ? once : undefined;
  try {
    return parseCron(schedule, timezone).nextRun(new Date(from_ms))?.getTime();
  } catch (error) {
    const reason = (error as Error).message;
    throw new InvalidInput(`Invalid cron schedule: '${schedule}'. Reason: ${reason}`, { cause: error });
  }
}

/** Only calculates: without a function, croner runs nothing. */
function parseCron(schedule: string, timezone: string | null): Cron {
  return new Cron(schedule, { timezone: timezone ?? 'UTC', mode: '5-part', fixedTimeRule: 'no-wildcard' });
}

function invalidReason(schedule: string): string | undefined {
  if (onceAt(schedule) !== undefined) return undefined;
  const fields = schedule.trim().split(/\s+/);
  const isName = fields.length === 1 && MACROS.includes(schedule.trim().toLowerCase());
  // croner also accepts a date as a schedule, and names that are not times.
  if (fields.length !== 5 && !isName) {
    const given = fields.length === 6 ? ', without the seconds in front' : '';
    return `it needs five fields: minute, hour, day of month, month, day of week${given}; or one of ${MACROS.join(', ')}`;
  }
  try {
    return parseCron(schedule, null).nextRun(new Date(0)) === null
      ? 'it never fires: no month has such a day'
      : undefined;
  } catch (error) {
    const { message } = error as Error;
    // croner counts days and months from 0 in these messages.
    return message.replace(/^CronPattern: /, '').replace(/^(Invalid value for (?:day|month)): .*/, '$1');
  }
}

function isTimezone(name: string): boolean {
  // An offset such as +02:00 has no daylight saving time, and is not an IANA name.
  if (!/^[A-Za-z]/.test(name)) return false;
  try {
    new Intl.DateTimeFormat('en', { timeZone: name });
    return true;
  } catch {
    return false;
  }
}

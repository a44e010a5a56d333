import { nextCronTime } from '../../../../src/core/cron-times.ts';

/** The time zone of this browser. */
export const LOCAL_ZONE: string = Intl.DateTimeFormat().resolvedOptions().timeZone;

/** A time (epoch ms) in a time zone, to the minute: `Mon 23 Nov, 08:00`. */
export function timeIn(ms: number, timezone: string): string {
  const parts: Intl.DateTimeFormatOptions = {
    weekday: 'short',
    day: 'numeric',
    month: 'short',
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
    timeZone: timezone,
  };
  return new Intl.DateTimeFormat('en-GB', parts).format(ms);
}

/** The next times of a schedule, epoch ms, by the server's rules. Throws for schedules that the server rejects. */
export function nextTimes(
  schedule: string,
  timezone: string | null,
  count: number,
  from = Date.now(),
): number[] {
  const times: number[] = [];
  for (let at: number | undefined = from; times.length < count; ) {
    at = nextCronTime(schedule, timezone, at);
    if (at === undefined) break;
    times.push(at);
  }
  return times;
}

interface NextTimesProps {
  readonly schedule: string;
  readonly timezone: string | null;
  /** End of the schedule, epoch ms. */
  readonly end?: number | undefined;
}

const SHOWN = 5;

/** The next times in the time zone of the schedule and, if different, in local time. */
export function NextTimes({ schedule, timezone, end = Number.POSITIVE_INFINITY }: NextTimesProps) {
  const zone = timezone ?? 'UTC';
  let times: number[];
  try {
    times = nextTimes(schedule, timezone, SHOWN).filter((at) => at <= end);
  } catch (error) {
    return <p className="text-err">{(error as Error).message}</p>;
  }
  if (times.length === 0) return <p className="text-ink-2">It will not fire again.</p>;
  const isElsewhere = zone !== LOCAL_ZONE;
  return (
    <table className="w-full text-left">
      <thead className="text-xs text-ink-3">
        <tr>
          <th scope="col" className="pr-4 pb-1 font-normal">
            {zone}
          </th>
          {isElsewhere && (
            <th scope="col" className="pb-1 font-normal">
              Here ({LOCAL_ZONE})
            </th>
          )}
        </tr>
      </thead>
      <tbody>
        {times.map((at) => (
          <tr key={at}>
            <td className="py-0.5 pr-4">{timeIn(at, zone)}</td>
            {isElsewhere && <td className="py-0.5 text-ink-2">{timeIn(at, LOCAL_ZONE)}</td>}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

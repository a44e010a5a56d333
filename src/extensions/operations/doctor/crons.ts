import { timestamp } from '../../../core/clock.ts';
import { nextCronTime } from '../../../core/cron-times.ts';
import { columns, text } from '../../../db/columns.ts';
import { type RowOf, sql } from '../../../db/sql.ts';
import { NOW, nowPlus } from '../../../db/time.ts';
import { type Check, counted, type DoctorContext, type Finding, type QuickContext, some } from './finding.ts';

export const cronChecks: readonly Check[] = [wrongDates, overdue, disabled];

const CRON = columns('crons', 'cron_id, schedule, timezone, ends_at, next_run_date, enabled');
type CronRow = RowOf<typeof CRON>;

/** A server whose clock is ahead may have fired a tick that is still in the future here, ms. */
const SKEW_MS = 60_000;

/** The stored date of the next run is not one of the schedule, or there is none although the cron is active. */
async function wrongDates({ db }: DoctorContext): Promise<Finding[]> {
  const rows = await db.all(sql`select ${CRON}, ${NOW} as ${text('now')} from crons
    where enabled = 1 and disabled_reason is null`);
  const wrong = rows.flatMap((row) => {
    const dates = expectedDates(row, Date.parse(row.now));
    return dates === undefined || dates.includes(row.next_run_date) ? [] : [{ row, next: dates[0] ?? null }];
  });
  if (wrong.length === 0) return [];
  return [
    {
      check: 'crons',
      level: 'problem',
      message: `Cron ${some(wrong.map(({ row }) => row.cron_id))} has a wrong next date (${wrong[0]?.row.next_run_date ?? 'none'} instead of ${wrong[0]?.next ?? 'none'}): --fix recalculates it.`,
      fix: async () => {
        for (const { row, next } of wrong)
          await db.run(sql`update crons set next_run_date = ${next} where cron_id = ${row.cron_id}
            and next_run_date is not distinct from ${row.next_run_date}`);
      },
    },
  ];
}

/** The next date, and those that are as good: one that is due already, and the one after a tick that just fired. */
function expectedDates(row: CronRow, now_ms: number): (string | null)[] | undefined {
  try {
    const next = dateAfter(row, now_ms);
    const is_due = row.next_run_date !== null && Date.parse(row.next_run_date) <= now_ms;
    return [next, dateAfter(row, now_ms + SKEW_MS), ...(is_due ? [row.next_run_date] : [])];
  } catch {
    // An unknown time zone: the server disables the cron and reports why.
    return undefined;
  }
}

function dateAfter({ schedule, timezone, ends_at }: CronRow, from_ms: number): string | null {
  const next = nextCronTime(schedule, timezone, from_ms);
  const date = next === undefined ? null : timestamp(next);
  return date !== null && ends_at !== null && date > ends_at ? null : date;
}

const OVERDUE_MS = 2 * 60_000;

export async function overdue({ db, is_served }: QuickContext): Promise<Finding[]> {
  const rows = await db.all(sql`select ${columns('crons', 'cron_id')} from crons
    where next_run_date <= ${nowPlus(-OVERDUE_MS)}`);
  if (rows.length === 0 || !is_served) return [];
  return [
    {
      check: 'crons',
      level: 'problem',
      message: `${counted(rows.length, 'cron')} did not fire when due (${some(rows.map(({ cron_id }) => cron_id))}): set "crons.enabled" on a server, and check its log.`,
    },
  ];
}

async function disabled({ db }: DoctorContext): Promise<Finding[]> {
  const rows = await db.all(
    sql`select ${columns('crons', 'cron_id')} from crons where disabled_reason is not null`,
  );
  if (rows.length === 0) return [];
  return [
    {
      check: 'crons',
      level: 'notice',
      message: `${counted(rows.length, 'cron')} had to be disabled because no run could be created (${some(rows.map(({ cron_id }) => cron_id))}): fix the cause that "disabled_reason" names, then enable it again.`,
    },
  ];
}

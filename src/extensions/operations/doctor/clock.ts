import { timestamp } from '../../../core/clock.ts';
import { firstUuid6, uuid6Time } from '../../../core/ids.ts';
import { columns, text } from '../../../db/columns.ts';
import { sql } from '../../../db/sql.ts';
import { NOW } from '../../../db/time.ts';
import { type Check, type DoctorContext, type Finding, type QuickContext, some } from './finding.ts';

export const clockChecks: readonly Check[] = [clockSkew, checkpointsToCome];

const TOLERANCE_MS = 1000;

/** Checkpoints, crons and tokens use the clock of the process; leases and due times that of the database. */
export async function clockSkew({ db, now }: QuickContext): Promise<Finding[]> {
  const before = now();
  const row = await db.get(sql`select ${NOW} as ${text('time')}`);
  const after = now();
  const time = Date.parse(row?.time ?? '');
  // The database read its clock at some moment in between.
  const skew_ms = time < before ? time - before : Math.max(0, time - after);
  if (Math.abs(skew_ms) <= TOLERANCE_MS) return [];
  const seconds = (Math.abs(skew_ms) / 1000).toFixed(1);
  return [
    {
      check: 'clock',
      level: 'problem',
      message: `The clock of this machine is ${seconds} s ${skew_ms < 0 ? 'ahead of' : 'behind'} that of the database: synchronize both with NTP.`,
    },
  ];
}

/** No run adds to such a thread before the clock has passed its newest checkpoint. */
async function checkpointsToCome({ db, now }: DoctorContext): Promise<Finding[]> {
  const from = now() + TOLERANCE_MS;
  const rows = await db.all(sql`
    select ${columns('checkpoints', 'c.thread_id')}, max(c.checkpoint_id) as ${text('newest')} from checkpoints c
    where c.ns = '' and c.checkpoint_id >= ${firstUuid6(from)}
      and not exists (select 1 from thread_deletions d where cast(d.thread_id as text) = c.thread_id)
    group by c.thread_id order by c.thread_id`);
  // Ids of other kinds say no time.
  const waiting = rows.flatMap(({ thread_id, newest }) => {
    const time = uuid6Time(newest);
    return time === undefined ? [] : [{ thread_id, time }];
  });
  if (waiting.length === 0) return [];
  const until = timestamp(Math.max(...waiting.map(({ time }) => time)));
  return [
    {
      check: 'clock',
      level: 'problem',
      message: `Thread ${some(waiting.map(({ thread_id }) => thread_id))} has a checkpoint written with a clock that was ahead: its runs wait in the queue ("clock behind") until ${until} at the latest. Synchronize the clocks of all servers with NTP; if that time is far away, cancel the runs, and copy the values of the thread to a new one.`,
    },
  ];
}

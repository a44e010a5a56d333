import { text } from '../../db/columns.ts';
import { sql } from '../../db/sql.ts';
import { NOW } from '../../db/time.ts';
import type { Check, DoctorContext, Finding } from './finding.ts';

export const clockChecks: readonly Check[] = [clockSkew];

const TOLERANCE_MS = 1000;

/** Checkpoints, crons and tokens use the clock of the process; leases and due times that of the database. */
async function clockSkew({ db, now }: DoctorContext): Promise<Finding[]> {
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
      message: `The clock of this machine is ${seconds} s ${skew_ms < 0 ? 'ahead of' : 'behind'} that of the database: let NTP set both.`,
    },
  ];
}

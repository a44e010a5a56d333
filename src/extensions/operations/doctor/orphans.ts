import { number } from '../../../db/columns.ts';
import { raw, sql } from '../../../db/sql.ts';
import type { Orphans } from '../../../storage/owned-data.ts';
import { counted, type DoctorContext, type Finding } from './finding.ts';

/** Those of the core. */
const ORPHANS: readonly Orphans[] = [
  {
    table: 'run_events',
    condition: `not exists (select 1 from run_event_expiry e where e.run_id = run_events.run_id)
      and not exists (select 1 from run_queue q where q.run_id = run_events.run_id)`,
    what: 'of the log of an ended run, without an expiry time',
  },
  {
    table: 'run_checkpoints',
    condition: `not exists (select 1 from run_event_expiry e where e.run_id = run_checkpoints.run_id)
      and not exists (select 1 from run_queue q where q.run_id = run_checkpoints.run_id)`,
    what: 'of the log of an ended run, without an expiry time',
  },
  {
    table: 'thread_log',
    condition: 'not exists (select 1 from threads t where t.thread_id = thread_log.thread_id)',
    what: 'of a thread that does not exist',
  },
  {
    table: 'checkpoint_blobs',
    condition: `not exists (select 1 from checkpoints c
      where c.thread_id = checkpoint_blobs.thread_id and c.ns = checkpoint_blobs.ns)
      and not exists (select 1 from thread_deletions d where cast(d.thread_id as text) = checkpoint_blobs.thread_id)`,
    what: 'of a thread without checkpoints',
  },
];

/** Rows of the core and of extensions that nothing leads to. */
export async function orphans(context: DoctorContext): Promise<Finding[]> {
  const findings: Finding[] = [];
  const ofExtensions = (context.owned ?? []).flatMap((owned) => owned.orphans ?? []);
  for (const each of [...ORPHANS, ...ofExtensions]) findings.push(...(await check(context, each)));
  return findings;
}

async function check({ db }: DoctorContext, { table, condition, what }: Orphans): Promise<Finding[]> {
  const from = raw(`from ${table} where ${condition}`);
  const row = await db.get(sql`select count(*) as ${number('n')} ${from}`);
  if (!row?.n) return [];
  return [
    {
      check: 'orphans',
      level: 'problem',
      message: `${table} has ${counted(row.n, 'row')} ${what}: --fix deletes them.`,
      fix: () => db.run(sql`delete ${from}`, 'reclaim'),
    },
  ];
}

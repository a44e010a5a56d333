import type { Db } from '../../src/db/db.ts';
import { raw } from '../../src/db/sql.ts';

/** What must not be when all runs have ended, as queries for what is wrong. */
const WRONG = {
  'logs with a gap':
    'select run_id from run_events group by run_id having count(*) <> max(seq) or min(seq) <> 1',
  'logs without one end at the end': `select run_id from run_events group by run_id
    having count(*) filter (where event = '__end__') <> 1 or max(seq) <> max(seq) filter (where event = '__end__')`,
  'checkpoints without their parent': `select thread_id, checkpoint_id from checkpoints c
    where parent_id is not null and not exists (select 1 from checkpoints p
      where p.thread_id = c.thread_id and p.ns = c.ns and p.checkpoint_id = c.parent_id)`,
  'writes without their checkpoint': `select thread_id, checkpoint_id from checkpoint_writes w
    where not exists (select 1 from checkpoints c
      where c.thread_id = w.thread_id and c.ns = w.ns and c.checkpoint_id = w.checkpoint_id)`,
  'runs in the queue': 'select run_id, state, retry_reason from run_queue',
  'runs without success': "select run_id, status, error from runs where status <> 'success'",
  'threads that are not idle': "select thread_id, status from threads where status <> 'idle'",
  'open entries in logs of threads': 'select thread_id, run_id from thread_log where length is null',
};

/** Of each kind the first few; an empty object when all is well. */
export async function violations(db: Db): Promise<Record<string, unknown[]>> {
  const found: Record<string, unknown[]> = {};
  for (const [what, query] of Object.entries(WRONG)) {
    const rows = await db.all(raw(`${query} limit 3`));
    if (rows.length > 0) found[what] = rows;
  }
  return found;
}

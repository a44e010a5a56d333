import { columns, notNull, number } from '../../db/columns.ts';
import type { Reader } from '../../db/db.ts';
import { decryptJsonColumns } from '../../db/encryption/cipher.ts';
import { type RowOf, sql } from '../../db/sql.ts';
import type { EndedRunView } from '../../schemas/thread-explanation.ts';
import { RUN_ERROR_COLUMN } from '../runs/runs.ts';

const QUEUED = columns('run_queue', 'run_id, state, not_before, attempt, cancel_action');

/** A run of a thread that is in the queue. */
export type ThreadQueueRow = RowOf<typeof QUEUED>;

/** The runs of a thread that are in the queue: the first `limit` in the order in which they go, and how many. */
export async function threadQueue(
  reader: Reader,
  thread_id: string,
  limit: number,
): Promise<{ runs: ThreadQueueRow[]; n_runs: number }> {
  const [runs, count] = await Promise.all([
    reader.all(sql`
      select ${QUEUED} from run_queue where thread_id = ${thread_id}
      order by case when state in ('ready', 'running') then 0 else 1 end, not_before, seq limit ${limit}`),
    reader.get(sql`select count(*) as ${number('n_runs')} from run_queue where thread_id = ${thread_id}`),
  ]);
  return { runs, n_runs: count?.n_runs ?? 0 };
}

const ENDED = sql`${columns('runs', 'run_id, status, error')}, ${notNull(columns('runs', 'ended_at'))}`;

/** The run of a thread that has ended last; `undefined` if there is none. */
export async function lastEndedRun(reader: Reader, thread_id: string): Promise<EndedRunView | undefined> {
  const row = await reader.get(sql`
    select ${ENDED} from runs where thread_id = ${thread_id} and ended_at is not null
    order by ended_at desc, created_at desc limit 1`);
  return row && decryptJsonColumns(reader.cipher, row, { error: RUN_ERROR_COLUMN });
}

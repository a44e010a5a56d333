import { toJson } from '../../core/json.ts';
import { columns } from '../../db/columns.ts';
import type { Db, Reader } from '../../db/db.ts';
import { decryptJsonColumns } from '../../db/encryption/cipher.ts';
import { raw, sql } from '../../db/sql.ts';
import { NOW } from '../../db/time.ts';
import { newestCheckpointId } from '../checkpoints/find.ts';
import { RUN_ERROR_COLUMN } from '../runs/runs.ts';
import { withThread } from '../runs/thread-lock.ts';
import { THREAD_COLUMNS } from './row.ts';
import { type NewState, writeNewest } from './state.ts';

/** A run that has ended without the state of its thread. */
export interface EndedWithoutState {
  readonly run_id: string;
  readonly thread_id: string;
  /** It only brought an answer to what nothing asks: the row is right unless its questions are not those of the graph. */
  readonly was_refused?: boolean;
}

/** Has the graph read the state, and stores it. Never throws, and waits for the graph for a limited time. */
export type StoreStateAfterRun = (run: EndedWithoutState) => Promise<void>;

const LAST = columns('runs', 'runs.run_id, runs.status, runs.error');

/**
 * The run that executed last on a thread without runs in flight, if the thread's row may lack its state: it is the given
 * one, or it ended after the row was written. Otherwise the row has more than checkpoints tell, such as what a limit asks.
 */
function unstoredRun(reader: Reader, { run_id, thread_id }: EndedWithoutState) {
  return reader.get(sql`
    select ${LAST} from threads t join runs on runs.run_id = (
      select n.run_id from runs n where n.thread_id = t.thread_id and n.started_at is not null
      order by n.created_at desc, n.run_id desc limit 1)
    where t.thread_id = ${thread_id} and (runs.run_id = ${run_id} or t.state_updated_at < runs.ended_at)
      and not exists (select 1 from run_queue q where q.thread_id = t.thread_id)`);
}

/** Whether `setStateAfterRun` may change the thread. */
export async function lacksState(db: Db, run: EndedWithoutState): Promise<boolean> {
  return (await unstoredRun(db, run)) !== undefined;
}

/**
 * Stores the newest checkpoint as the state of a thread whose last run could not do so. The thread has the error of a
 * cancelled run, as after `finish`; a status `error` stays, with its error. Does nothing if another run is in flight,
 * which continues from the checkpoint, or if a newer checkpoint or state exists.
 */
export function setStateAfterRun(
  db: Db,
  run: EndedWithoutState,
  {
    values,
    status,
    interrupts,
    checkpoint_id,
  }: Pick<NewState, 'values' | 'status' | 'interrupts'> & {
    readonly checkpoint_id: string;
  },
): Promise<boolean> {
  const { thread_id } = run;
  return withThread(db, 'sync', thread_id, async (tx) => {
    const last = await unstoredRun(tx, run);
    if (!last || (await newestCheckpointId(tx, thread_id)) !== checkpoint_id) return false;
    const { error } = decryptJsonColumns(tx.cipher, last, { error: RUN_ERROR_COLUMN });
    const isCancelled = last.status === 'interrupted';
    const own = error === null ? null : tx.cipher.encryptJson(THREAD_COLUMNS.error, toJson(error));
    await writeNewest(tx, thread_id, {
      values,
      interrupts,
      status: isCancelled ? sql`${status}` : sql`case when status = 'error' then status else ${status} end`,
      error: isCancelled ? sql`${own}` : raw('error'),
      at: NOW,
    });
    return true;
  });
}

import { columns, notNull } from '../../db/columns.ts';
import type { Db } from '../../db/db.ts';
import { forEachRow } from '../../db/rows.ts';
import { type RowOf, sql } from '../../db/sql.ts';
import { NOW } from '../../db/time.ts';
import { withThread } from '../runs/thread-lock.ts';
import { deleteThreadIn, pruneThreadIn } from './delete.ts';
import { deleteRest } from './deletions.ts';

/** Keyset cursor of a sweep. */
export interface ExpiryCursor {
  readonly expires_at: string;
  readonly thread_id: string;
}

export interface ExpirySweep {
  readonly examined: number;
  readonly expired: number;
  /** Threads that could not be expired; the next sweep retries them. */
  readonly failed: readonly { readonly thread_id: string; readonly error: unknown }[];
  /** Where the sweep continues; `undefined` once it is complete. */
  readonly next: ExpiryCursor | undefined;
}

const DUE_THREAD = notNull(columns('threads', 'thread_id, expires_at'));
const STRATEGY = notNull(columns('threads', 'ttl_strategy'));

const DUE = sql`expires_at <= ${NOW} and not exists (
  select 1 from run_queue q where q.thread_id = threads.thread_id)`;

/**
 * Deletes expired threads, or their history. A thread with a run in flight waits for the run's end. One commit per
 * thread: other writers need not wait for the whole sweep, and a failing thread does not block the others.
 */
export async function expireThreads(db: Db, limit: number, after?: ExpiryCursor): Promise<ExpirySweep> {
  const behind = after ? sql`(expires_at, thread_id) > (${after.expires_at}, ${after.thread_id})` : sql`true`;
  const due = await db.all(sql`
    select ${DUE_THREAD} from threads where ${DUE} and ${behind} order by expires_at, thread_id limit ${limit}`);
  let expired = 0;
  const failed: { thread_id: string; error: unknown }[] = [];
  await forEachRow(
    due,
    async ({ thread_id }) => {
      const strategy = await expire(db, thread_id);
      if (strategy) expired++;
      if (strategy === 'delete') await deleteRest(db, thread_id);
    },
    ({ thread_id }, error) => failed.push({ thread_id, error }),
  );
  return { examined: due.length, expired, failed, next: due.length === limit ? due.at(-1) : undefined };
}

/** Returns the strategy that applied; `undefined` if the thread is not due any more. */
function expire(db: Db, thread_id: string): Promise<RowOf<typeof STRATEGY>['ttl_strategy'] | undefined> {
  return withThread(db, 'reclaim', thread_id, async (tx, thread) => {
    if (!thread.exists) return undefined;
    // Since the query, a run may have arrived, or a client may have changed the TTL.
    const due = await tx.get(sql`select ${STRATEGY} from threads where thread_id = ${thread_id} and ${DUE}`);
    if (!due) return undefined;
    if (due.ttl_strategy === 'delete') {
      await deleteThreadIn(tx, thread_id);
    } else {
      await pruneThreadIn(tx, thread_id);
      await tx.run(sql`update threads set expires_at = null where thread_id = ${thread_id}`);
    }
    return due.ttl_strategy;
  });
}

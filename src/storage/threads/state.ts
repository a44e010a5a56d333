import { toJson } from '../../core/json.ts';
import type { Db, Transaction } from '../../db/db.ts';
import { mergeJson } from '../../db/json.ts';
import { type DialectSql, raw, type Sql, sql } from '../../db/sql.ts';
import type { ThreadStatus } from '../../schemas/threads.ts';
import { newestCheckpointId } from '../checkpoints/find.ts';
import { isIdle, withThread } from '../runs/thread-lock.ts';
import { appendThreadEvent, type ThreadEvent } from '../runs/thread-log.ts';
import { requireImport } from '../runs/unfinished-import.ts';
import { EXPIRY_AFTER_STATE, THREAD_COLUMNS } from './row.ts';
import { encryptSummary, serializeState } from './values-summary.ts';

/** A thread's state after an update outside any run (contract §2.2). */
export interface NewState {
  readonly values: unknown;
  /**
   * Optimistic lock: the thread's newest checkpoint, to which this state belongs; null before the first. A newer checkpoint
   * supersedes the state; `undefined` skips the check.
   */
  readonly checkpoint_id?: string | null;
  readonly status: Exclude<ThreadStatus, 'busy'>;
  readonly interrupts: Record<string, unknown[]>;
  /** The import that this state completes. */
  readonly import_id?: string | undefined;
  /** Merged shallow. */
  readonly metadata?: Record<string, unknown> | undefined;
  /** Published to those who follow the thread. */
  readonly event?: ThreadEvent | undefined;
}

export function setThreadState(
  db: Db,
  thread_id: string,
  state: NewState,
  at: string,
): Promise<'updated' | 'superseded' | 'busy' | 'missing'> {
  return withThread(db, 'sync', thread_id, async (tx, thread) => {
    if (!thread.exists) return 'missing';
    await requireImport(tx, thread_id, state.import_id);
    if (!(await isIdle(tx, thread))) return 'busy';
    const isNewest = await isAtCheckpoint(tx, thread_id, state.checkpoint_id);
    if (isNewest) await writeState(tx, thread_id, state, at);
    if (state.event) await appendThreadEvent(tx, thread_id, state.event);
    return isNewest ? 'updated' : 'superseded';
  });
}

/**
 * Updates status and interrupts of a thread whose run was rolled back or deleted; its values stay. Does nothing if
 * another run is in flight, which will write them, if the newest checkpoint has changed, or if the status is `error`.
 */
export function refreshThread(
  db: Db,
  thread_id: string,
  { status, interrupts, checkpoint_id }: Pick<NewState, 'status' | 'interrupts' | 'checkpoint_id'>,
): Promise<void> {
  const isInterrupted = Object.keys(interrupts).length > 0;
  // Null means that the thread never had a state.
  const encrypted = db.cipher.encryptJson(THREAD_COLUMNS.interrupts, toJson(interrupts));
  const newInterrupts = isInterrupted
    ? sql`${encrypted}`
    : sql`case when interrupts is null then interrupts else ${encrypted} end`;
  return withThread(db, 'sync', thread_id, async (tx, thread) => {
    if (
      !thread.exists ||
      !(await isIdle(tx, thread)) ||
      !(await isAtCheckpoint(tx, thread_id, checkpoint_id))
    )
      return;
    await tx.run(sql`update threads set status = ${status}, interrupts = ${newInterrupts}
      where thread_id = ${thread_id} and status <> 'error'`);
  });
}

/** Whether the thread's newest checkpoint is still the one read before the lock. */
async function isAtCheckpoint(
  tx: Transaction,
  thread_id: string,
  checkpoint_id: string | null | undefined,
): Promise<boolean> {
  return checkpoint_id === undefined || (await newestCheckpointId(tx, thread_id)) === checkpoint_id;
}

async function writeState(tx: Transaction, thread_id: string, state: NewState, at: string): Promise<void> {
  const { values, interrupts, status, metadata = {} } = state;
  tx.defer(sql`update threads set import_id = null, metadata = ${mergeJson('metadata', metadata)}
    where thread_id = ${thread_id}`);
  const written = { values, interrupts, status: sql`${status}`, error: raw('null'), at: sql`${at}` };
  await writeNewest(tx, thread_id, written);
}

/** Part of a transaction that holds the thread lock: what the row of a thread has of its newest state. */
export async function writeNewest(
  tx: Transaction,
  thread_id: string,
  state: Pick<NewState, 'values' | 'interrupts'> &
    Readonly<Record<'status' | 'error' | 'at', Sql | DialectSql>>,
): Promise<void> {
  const { cipher } = tx;
  const { status, error, at } = state;
  const { text, summary } = serializeState(state.values);
  // A thread without interrupts has had no state yet, and no configuration (contract §2.2 Thread).
  await tx.run(sql`
    update threads set status = ${status}, error = ${error},
      interrupts = ${cipher.encryptJson(THREAD_COLUMNS.interrupts, toJson(state.interrupts))},
      config = case when interrupts is null then ${cipher.encryptJson(THREAD_COLUMNS.config, '{"configurable":{}}')} else config end,
      values_summary = ${encryptSummary(cipher, summary)}, updated_at = ${at}, state_updated_at = ${at},
      ${EXPIRY_AFTER_STATE}
    where thread_id = ${thread_id}`);
  await tx.run(sql`
    insert into thread_values (thread_id, value) values (${thread_id}, ${cipher.encryptJson(THREAD_COLUMNS.values, text)})
    on conflict (thread_id) do update set value = excluded.value`);
}

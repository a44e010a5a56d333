import { toJson } from '../core/json.ts';
import type { ThreadStatus } from '../schemas/threads.ts';
import type { Db, Transaction } from './db.ts';
import { merged } from './json.ts';
import { lockThread } from './queue/thread-lock.ts';
import { sql } from './sql.ts';
import { addThreadEvent, type ThreadEvent } from './thread-log.ts';
import { sealedOutline, stateText } from './thread-outline.ts';
import { findThread, THREAD } from './thread-row.ts';
import { EXPIRY_AFTER_STATE } from './thread-ttl.ts';

/** What a state update from outside of any run makes of a thread (CONTRACT §2.2). */
export interface NewState {
  readonly values: unknown;
  readonly status: Exclude<ThreadStatus, 'busy'>;
  readonly interrupts: Record<string, unknown[]>;
  /** Merged shallow. */
  readonly metadata?: Record<string, unknown> | undefined;
  /** What those who follow the thread are told. */
  readonly news?: ThreadEvent | undefined;
}

export function setThreadState(
  db: Db,
  thread_id: string,
  state: NewState,
  at: string,
): Promise<'updated' | 'busy' | 'missing'> {
  return db.transaction('promised', async (tx) => {
    await lockThread(tx, thread_id);
    const thread = await findThread(tx, thread_id, ['status']);
    if (!thread) return 'missing';
    if (thread.status === 'busy') return 'busy';
    await writeState(tx, thread_id, state, at);
    if (state.news) await addThreadEvent(tx, thread_id, state.news);
    return 'updated';
  });
}

/**
 * Status and interrupts of a thread whose run was taken away; its values stay. Nothing happens while another run is in
 * flight, which will write them, and a failure stays one.
 */
export async function settleThread(
  db: Db,
  thread_id: string,
  { status, interrupts }: Pick<NewState, 'status' | 'interrupts'>,
): Promise<void> {
  const asked = Object.keys(interrupts).length > 0;
  // Null says that the thread never had a state.
  const sealed = db.cipher.sealJson(THREAD.interrupts, toJson(interrupts));
  const kept = asked ? sql`${sealed}` : sql`case when interrupts is null then interrupts else ${sealed} end`;
  await db.run(sql`update threads set status = ${status}, interrupts = ${kept}
    where thread_id = ${thread_id} and status <> 'error'
      and not exists (select 1 from run_queue where run_queue.thread_id = threads.thread_id)`);
}

async function writeState(tx: Transaction, thread_id: string, state: NewState, at: string): Promise<void> {
  const { cipher } = tx;
  const { text, outline } = stateText(state.values);
  // A thread without interrupts has had no state yet, and no configuration (CONTRACT §2.2 Thread).
  await tx.run(sql`
    update threads set status = ${state.status}, error = null,
      interrupts = ${cipher.sealJson(THREAD.interrupts, toJson(state.interrupts))},
      config = case when interrupts is null then ${cipher.sealJson(THREAD.config, '{"configurable":{}}')} else config end,
      outline = ${sealedOutline(cipher, outline)}, metadata = ${merged('metadata', state.metadata ?? {})}, updated_at = ${at}, state_updated_at = ${at},
      ${EXPIRY_AFTER_STATE}
    where thread_id = ${thread_id}`);
  await tx.run(sql`
    insert into thread_values (thread_id, value) values (${thread_id}, ${cipher.sealJson(THREAD.values, text)})
    on conflict (thread_id) do update set value = excluded.value`);
}

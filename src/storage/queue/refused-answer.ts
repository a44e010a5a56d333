import { toJson } from '../../core/json.ts';
import { columns } from '../../db/columns.ts';
import type { Transaction } from '../../db/db.ts';
import { decryptJsonColumns } from '../../db/encryption/cipher.ts';
import { isOneOf } from '../../db/json.ts';
import { and, sql } from '../../db/sql.ts';
import type { Interrupt, ResumeRefusal } from '../../schemas/threads.ts';
import { deleteCheckpointsOfRun } from '../checkpoints/delete.ts';
import type { Lease } from '../runs/lease.ts';
import type { ThreadAfterRun } from '../threads/after-run.ts';
import { THREAD_COLUMNS } from '../threads/row.ts';

type Asked = Record<string, readonly Interrupt[]>;

/**
 * Part of the transaction that ends a run: a refused answer is not on record, and leaves the thread as it was unless another
 * answer of the run was accepted. False for a run without a refused answer.
 */
export async function leavesThread(
  tx: Transaction,
  lease: Lease,
  { refused, thread }: { readonly refused?: ResumeRefusal['reason'] | undefined; thread: ThreadAfterRun },
): Promise<boolean> {
  if (refused === undefined) return false;
  const { interrupts, values } = thread;
  // A schema refuses what other answers of the run may have passed. The state is unknown if it cannot be read.
  const mayBePart = refused === 'invalid' && values !== null;
  const leaves_thread = !mayBePart || (await isStillPending(tx, lease.thread_id, interrupts));
  withdrawAnswers(tx, lease, leaves_thread ? undefined : interrupts);
  return leaves_thread;
}

/**
 * Whether the thread still asks all that it asked before the run: then no answer of the run was accepted. Under the lock
 * of its thread, whose row no other run can have changed meanwhile.
 */
async function isStillPending(tx: Transaction, thread_id: string, pending: Asked): Promise<boolean> {
  const row = await tx.get(
    sql`select ${columns('threads', 'interrupts')} from threads where thread_id = ${thread_id}`,
  );
  if (!row) return true;
  const { interrupts } = decryptJsonColumns(tx.cipher, row, { interrupts: THREAD_COLUMNS.interrupts });
  return keyOf((interrupts ?? {}) as Asked) === keyOf(pending);
}

function keyOf(asked: Asked): string {
  return toJson(
    Object.entries(asked)
      .map(([task_id, each]) => [task_id, ...each.map(({ id }) => id ?? null)])
      .sort(),
  );
}

/** Deletes the records of the run's answers, or only those to what is still `pending`. */
function withdrawAnswers(tx: Transaction, { run_id }: Lease, pending: Asked | undefined): void {
  const ids = pending && Object.values(pending).flatMap((each) => each.map(({ id }) => String(id)));
  const isAsked = ids && isOneOf('interrupt_id', ids);
  tx.defer(sql`delete from interrupt_answers where ${and([sql`run_id = ${run_id}`, isAsked])}`);
}

/** Undoes what the run has stored of its thread: its checkpoints and writes, and its assistant in the metadata. */
export async function undoAnswer(tx: Transaction, { run_id, thread_id }: Lease): Promise<void> {
  await deleteCheckpointsOfRun(tx, thread_id, run_id);
  const asking = await tx.get(sql`
    select ${columns('assistants', 'a.assistant_id, a.graph_id')} from assistants a where a.assistant_id = (
      select r.assistant_id from runs r where r.thread_id = ${thread_id} and r.run_id <> ${run_id}
        and r.status not in ('error', 'timeout') and r.started_at is not null order by r.created_at desc, r.run_id desc limit 1)`);
  const thread = await tx.get(
    sql`select ${columns('threads', 'metadata')} from threads where thread_id = ${thread_id}`,
  );
  if (!asking || !thread) return;
  const metadata = JSON.parse(thread.metadata) as Record<string, unknown>;
  if (metadata['assistant_id'] === asking.assistant_id) return;
  tx.defer(sql`update threads set metadata = ${toJson({ ...metadata, ...asking })}
    where thread_id = ${thread_id}`);
}

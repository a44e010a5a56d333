import { type Fence, writeUnder } from './checkpoint-fence.ts';
import type { CheckpointKey } from './checkpoint-put.ts';
import { WRITE_VALUE } from './checkpoint-rows.ts';
import type { Db, Durability, Transaction } from './db.ts';
import { insertRows } from './insert-rows.ts';
import { list, sql } from './sql.ts';

/** What a task wrote to a channel, before the next checkpoint applies it. */
export interface WriteRow {
  readonly task_id: string;
  /** Below zero for what a task has one of (its error, interrupt, resume values): the last one counts. */
  readonly idx: number;
  readonly channel: string;
  readonly type: string;
  readonly value: Uint8Array;
  /** Why `value` cannot be had; it is empty then. Only in rows that were read. */
  readonly damage?: string | undefined;
}

export interface NewWrites extends CheckpointKey {
  readonly run_id: string | null;
  readonly task_id: string;
  /** No two with the same `idx`. */
  readonly writes: readonly Omit<WriteRow, 'task_id'>[];
}

/** Adds what one task wrote at a checkpoint. Of two writes with the same `idx` the first counts, unless below zero. */
export function putWrites(
  db: Db,
  fence: Fence,
  request: NewWrites,
  durability: Durability,
): Promise<boolean> {
  return writeUnder(db, fence, durability, async (tx) => {
    await supersede(tx, request);
    await insertWrites(tx, request);
  });
}

/**
 * Puts aside what an earlier run wrote and this one writes again, such as the interrupt of a task that a resume
 * reaches once more. Taking this run back brings it to light again (`removeCheckpointsOfRun`).
 */
async function supersede(tx: Transaction, { thread_id, ns, checkpoint_id, ...by }: NewWrites): Promise<void> {
  const again = by.writes.filter((write) => write.idx < 0).map((write) => write.idx);
  if (again.length === 0 || by.run_id === null) return;
  await tx.run(sql`update checkpoint_writes set superseded_by = ${by.run_id}
    where thread_id = ${thread_id} and ns = ${ns} and checkpoint_id = ${checkpoint_id} and task_id = ${by.task_id}
      and idx in ${list(again)} and superseded_by = '' and run_id is distinct from ${by.run_id}`);
}

function insertWrites(tx: Transaction, request: NewWrites): Promise<void> {
  const { thread_id, ns, checkpoint_id, task_id, run_id } = request;
  return insertRows(
    tx,
    sql`checkpoint_writes (thread_id, ns, checkpoint_id, task_id, idx, channel, type, value, run_id)`,
    request.writes.map(
      ({
        idx,
        channel,
        type,
        value,
      }) => sql`(${thread_id}, ${ns}, ${checkpoint_id}, ${task_id}, ${idx}, ${channel},
        ${type}, ${tx.cipher.sealBytes(WRITE_VALUE, value)}, ${run_id})`,
    ),
    sql`on conflict (thread_id, ns, checkpoint_id, task_id, idx, superseded_by) do update
      set channel = excluded.channel, type = excluded.type, value = excluded.value where excluded.idx < 0`,
  );
}

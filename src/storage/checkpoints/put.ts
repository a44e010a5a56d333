import type { CommitMode, Db, Transaction } from '../../db/db.ts';
import { insertRows } from '../../db/rows.ts';
import { list, raw, sql } from '../../db/sql.ts';
import { isIdle, withThread } from '../runs/thread-lock.ts';
import type { Write, WriteBuffer } from '../runs/write-buffer.ts';
import type { BlobRow } from './delta-blobs.ts';
import { encryptMetadata, withThreadId } from './metadata.ts';
import {
  BLOB_VALUE_COLUMN,
  CHECKPOINT_COLUMN,
  type CheckpointKey,
  WRITE_VALUE_COLUMN,
  type WriteRow,
} from './rows.ts';

/**
 * What allows checkpoints to be written: the lease of an attempt (invariant 2), or, for a change from outside of runs,
 * that no run of the thread is pending or running.
 */
export type Fence = { readonly attempt: WriteBuffer } | { readonly idle_thread_id: string };

/**
 * Writes under the fence. False when a thread that must be idle is not, or `also` says no, and nothing is written.
 * An attempt's writes are checked with their commit, which may come later; throws what an earlier one threw.
 */
export async function writeFenced(
  db: Db,
  fence: Fence,
  durability: CommitMode,
  write: Write,
  condition: (tx: Transaction) => Promise<boolean> = async () => true,
): Promise<boolean> {
  if ('attempt' in fence) {
    await fence.attempt.add(write, durability);
    return true;
  }
  return withThread(db, durability, fence.idle_thread_id, async (tx, thread) => {
    if (!thread.exists || !(await isIdle(tx, thread)) || !(await condition(tx))) return false;
    await write(tx);
    return true;
  });
}

export interface NewCheckpoint extends CheckpointKey {
  readonly parent_id: string | null;
  /** The run that made it, with which it is taken back. */
  readonly run_id: string | null;
  /** JSON text, as are the next two. */
  readonly checkpoint: string;
  /** Channel → version of all channels, also of those that did not change. */
  readonly versions: string;
  readonly metadata: string;
  /** The values that changed. */
  readonly blobs: readonly BlobRow[];
}

/**
 * Adds a checkpoint and the values that are new in it: both or none. Doing it again changes nothing, so that a commit
 * whose answer was lost may be repeated.
 */
export function putCheckpoint(
  db: Db,
  fence: Fence,
  checkpoint: NewCheckpoint,
  durability: CommitMode,
): Promise<boolean> {
  const write = async (tx: Transaction) => {
    await insertBlobs(tx, checkpoint);
    await insertCheckpoint(tx, checkpoint);
  };
  return writeFenced(db, fence, durability, write, (tx) => parentExists(tx, checkpoint));
}

/** Outside of a run the run that made the parent may have been deleted since it was read, with all it wrote. */
async function parentExists(tx: Transaction, { thread_id, ns, parent_id }: NewCheckpoint): Promise<boolean> {
  if (parent_id === null) return true;
  const parent = await tx.get(sql`select 1 from checkpoints
    where thread_id = ${thread_id} and ns = ${ns} and checkpoint_id = ${parent_id}`);
  return parent !== undefined;
}

async function insertCheckpoint(tx: Transaction, row: NewCheckpoint): Promise<void> {
  const checkpoint = tx.cipher.encryptJson(CHECKPOINT_COLUMN, row.checkpoint);
  const metadata = encryptMetadata(tx.cipher, row.metadata);
  await tx.run(sql`
    insert into checkpoints (thread_id, ns, checkpoint_id, parent_id, run_id, checkpoint, versions, metadata)
    values (${row.thread_id}, ${row.ns}, ${row.checkpoint_id}, ${row.parent_id}, ${row.run_id}, ${checkpoint},
      ${row.versions}, ${metadata})
    on conflict (thread_id, ns, checkpoint_id) do update set parent_id = excluded.parent_id,
      checkpoint = excluded.checkpoint, versions = excluded.versions, metadata = excluded.metadata`);
}

/** A version names its content for good: one that is there already is the same. */
function insertBlobs(tx: Transaction, { thread_id, ns, blobs }: NewCheckpoint): Promise<void> {
  return insertRows(
    tx,
    sql`checkpoint_blobs (thread_id, ns, channel, version, base_version, appends, type, value)`,
    blobs.map(
      (
        blob,
      ) => sql`(${thread_id}, ${ns}, ${blob.channel}, ${blob.version}, ${blob.base_version}, ${blob.appends},
        ${blob.type}, ${tx.cipher.encryptBytes(BLOB_VALUE_COLUMN, blob.value)})`,
    ),
    sql`on conflict (thread_id, ns, channel, version) do nothing`,
  );
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
  durability: CommitMode,
): Promise<boolean> {
  return writeFenced(db, fence, durability, async (tx) => {
    await supersedeWrites(tx, request);
    await insertWrites(tx, request);
  });
}

/**
 * Puts aside what an earlier run wrote and this one writes again, such as the interrupt of a task that a resume
 * reaches once more. Taking this run back brings it to light again (`deleteCheckpointsOfRun`).
 */
async function supersedeWrites(
  tx: Transaction,
  { thread_id, ns, checkpoint_id, ...by }: NewWrites,
): Promise<void> {
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
        ${type}, ${tx.cipher.encryptBytes(WRITE_VALUE_COLUMN, value)}, ${run_id})`,
    ),
    sql`on conflict (thread_id, ns, checkpoint_id, task_id, idx, superseded_by) do update
      set channel = excluded.channel, type = excluded.type, value = excluded.value where excluded.idx < 0`,
  );
}

const BLOB_COLUMNS = raw('ns, channel, version, base_version, appends, type, value');
const WRITE_COLUMNS = raw('ns, checkpoint_id, task_id, idx, channel, type, value');

/**
 * Gives a thread the whole history of another. No `run_id` goes with it: the runs stay with the source, and removing
 * one of them must not take its part from the copy.
 */
export async function copyCheckpoints(tx: Transaction, source_id: string, target_id: string): Promise<void> {
  // Checkpoints first: PostgreSQL looks again for each statement, and a run may add some of all three meanwhile.
  await tx.run(sql`
    insert into checkpoints (thread_id, ns, checkpoint_id, parent_id, checkpoint, versions, metadata)
    select ${target_id}, ns, checkpoint_id, parent_id, checkpoint, versions, ${withThreadId(tx.cipher, target_id)}
    from checkpoints where thread_id = ${source_id}`);
  await tx.run(sql`insert into checkpoint_blobs (thread_id, ${BLOB_COLUMNS})
    select ${target_id}, ${BLOB_COLUMNS} from checkpoint_blobs where thread_id = ${source_id}`);
  await tx.run(sql`insert into checkpoint_writes (thread_id, ${WRITE_COLUMNS})
    select ${target_id}, ${WRITE_COLUMNS} from checkpoint_writes where thread_id = ${source_id} and superseded_by = ''`);
}

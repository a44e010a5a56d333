import type { CommitMode, Db, Transaction } from '../../db/db.ts';
import { insertRows } from '../../db/rows.ts';
import { list, raw, sql } from '../../db/sql.ts';
import type { Write } from '../runs/batch.ts';
import { isIdle, withThread } from '../runs/thread-lock.ts';
import { requireImport } from '../runs/unfinished-import.ts';
import type { WriteBuffer } from '../runs/write-buffer.ts';
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
 * Fence of a checkpoint write: the lease of an attempt (invariant 2) or, for an update outside any run, that no run of
 * the thread is in flight. Its history must be whole, unless this is the import that writes it.
 */
export type Fence =
  | { readonly attempt: WriteBuffer }
  | { readonly idle_thread_id: string; readonly import_id?: string | undefined };

/**
 * Writes under the fence. Returns false, and writes nothing, if a thread that must be idle is not, or if `condition`
 * fails. An attempt's writes are checked at their commit, which may come later; throws the error of an earlier commit.
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
    await requireImport(tx, thread.thread_id, fence.import_id);
    await write(tx);
    return true;
  });
}

export interface NewCheckpoint extends CheckpointKey {
  readonly parent_id: string | null;
  /** The run that created it; a rollback of that run deletes it. */
  readonly run_id: string | null;
  /** JSON text, as are the next two. */
  readonly checkpoint: string;
  /** Channel → version of all channels, including unchanged ones. */
  readonly versions: string;
  readonly metadata: string;
  /** Changed values. */
  readonly blobs: readonly BlobRow[];
}

/**
 * Adds a checkpoint and its new values: both or none. Idempotent, so that a commit whose response was lost may be
 * repeated.
 */
export function putCheckpoint(
  db: Db,
  fence: Fence,
  checkpoint: NewCheckpoint,
  durability: CommitMode,
): Promise<boolean> {
  const write = async (tx: Transaction) => {
    await insertBlobs(tx, checkpoint);
    insertCheckpoint(tx, checkpoint);
  };
  return writeFenced(db, fence, durability, write, (tx) => parentExists(tx, checkpoint));
}

/** Outside of runs, the parent may have been deleted, with the run that created it, since it was read. */
async function parentExists(tx: Transaction, { thread_id, ns, parent_id }: NewCheckpoint): Promise<boolean> {
  if (parent_id === null) return true;
  const parent = await tx.get(sql`select 1 from checkpoints
    where thread_id = ${thread_id} and ns = ${ns} and checkpoint_id = ${parent_id}`);
  return parent !== undefined;
}

function insertCheckpoint(tx: Transaction, row: NewCheckpoint): void {
  const checkpoint = tx.cipher.encryptJson(CHECKPOINT_COLUMN, row.checkpoint);
  const metadata = encryptMetadata(tx.cipher, row.metadata);
  tx.defer(sql`
    insert into checkpoints (thread_id, ns, checkpoint_id, parent_id, run_id, checkpoint, versions, metadata)
    values (${row.thread_id}, ${row.ns}, ${row.checkpoint_id}, ${row.parent_id}, ${row.run_id}, ${checkpoint},
      ${row.versions}, ${metadata})
    on conflict (thread_id, ns, checkpoint_id) do update set parent_id = excluded.parent_id,
      checkpoint = excluded.checkpoint, versions = excluded.versions, metadata = excluded.metadata`);
}

/** A version is immutable: an existing row has the same content. */
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
  readonly task_path: string;
  /** Each with its own `idx`. */
  readonly writes: readonly Omit<WriteRow, 'task_id' | 'task_path'>[];
}

/** Adds the writes of a task at a checkpoint. Of two with the same `idx` the first wins; if negative, the last. */
export function putWrites(
  db: Db,
  fence: Fence,
  request: NewWrites,
  durability: CommitMode,
): Promise<boolean> {
  return writeFenced(db, fence, durability, async (tx) => {
    supersedeWrites(tx, request);
    await insertWrites(tx, request);
  });
}

/**
 * Supersedes what an earlier run wrote and this one writes again, such as the interrupt of a task that a resume reaches
 * once more. Rolling this run back restores it (`deleteCheckpointsOfRun`).
 */
function supersedeWrites(tx: Transaction, { thread_id, ns, checkpoint_id, ...by }: NewWrites): void {
  const again = by.writes.filter((write) => write.idx < 0).map((write) => write.idx);
  if (again.length === 0 || by.run_id === null) return;
  tx.defer(sql`update checkpoint_writes set superseded_by = ${by.run_id}
    where thread_id = ${thread_id} and ns = ${ns} and checkpoint_id = ${checkpoint_id} and task_id = ${by.task_id}
      and idx in ${list(again)} and superseded_by = '' and run_id is distinct from ${by.run_id}`);
}

function insertWrites(tx: Transaction, request: NewWrites): Promise<void> {
  const { thread_id, ns, checkpoint_id, task_id, task_path, run_id } = request;
  return insertRows(
    tx,
    sql`checkpoint_writes (thread_id, ns, checkpoint_id, task_id, task_path, idx, channel, type, value, run_id)`,
    request.writes.map(
      ({
        idx,
        channel,
        type,
        value,
      }) => sql`(${thread_id}, ${ns}, ${checkpoint_id}, ${task_id}, ${task_path}, ${idx}, ${channel},
        ${type}, ${tx.cipher.encryptBytes(WRITE_VALUE_COLUMN, value)}, ${run_id})`,
    ),
    sql`on conflict (thread_id, ns, checkpoint_id, task_id, idx, superseded_by) do update
      set channel = excluded.channel, type = excluded.type, value = excluded.value where excluded.idx < 0`,
  );
}

const BLOB_COLUMNS = raw('ns, channel, version, base_version, appends, type, value');
const WRITE_COLUMNS = raw('ns, checkpoint_id, task_id, task_path, idx, channel, type, value');

/**
 * Copies the whole history of a thread to another, without `run_id`: the runs stay with the source, and deleting one of
 * them must not delete its part of the copy. Part of a `snapshot` transaction: runs write and delete meanwhile.
 */
export async function copyCheckpoints(tx: Transaction, source_id: string, target_id: string): Promise<void> {
  await tx.run(sql`
    insert into checkpoints (thread_id, ns, checkpoint_id, parent_id, checkpoint, versions, metadata)
    select ${target_id}, ns, checkpoint_id, parent_id, checkpoint, versions, ${withThreadId(tx.cipher, target_id)}
    from checkpoints where thread_id = ${source_id}`);
  await tx.run(sql`insert into checkpoint_blobs (thread_id, ${BLOB_COLUMNS})
    select ${target_id}, ${BLOB_COLUMNS} from checkpoint_blobs where thread_id = ${source_id}`);
  await tx.run(sql`insert into checkpoint_writes (thread_id, ${WRITE_COLUMNS})
    select ${target_id}, ${WRITE_COLUMNS} from checkpoint_writes where thread_id = ${source_id} and superseded_by = ''`);
}

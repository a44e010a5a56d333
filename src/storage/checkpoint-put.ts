import { type Fence, writeUnder } from './checkpoint-fence.ts';
import { sealMetadata } from './checkpoint-metadata.ts';
import { BLOB_VALUE, CHECKPOINT } from './checkpoint-rows.ts';
import type { Db, Durability, Transaction } from './db.ts';
import type { BlobRow } from './growing-list.ts';
import { insertRows } from './insert-rows.ts';
import { sql } from './sql.ts';

/** Where a checkpoint is. `ns` is empty for the graph itself and names a task for a subgraph. */
export interface CheckpointKey {
  readonly thread_id: string;
  readonly ns: string;
  readonly checkpoint_id: string;
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
  durability: Durability,
): Promise<boolean> {
  const write = async (tx: Transaction) => {
    await insertBlobs(tx, checkpoint);
    await insertCheckpoint(tx, checkpoint);
  };
  return writeUnder(db, fence, durability, write, (tx) => parentExists(tx, checkpoint));
}

/** Outside of a run the run that made the parent may have been deleted since it was read, with all it wrote. */
async function parentExists(tx: Transaction, { thread_id, ns, parent_id }: NewCheckpoint): Promise<boolean> {
  if (parent_id === null) return true;
  const parent = await tx.get(sql`select 1 from checkpoints
    where thread_id = ${thread_id} and ns = ${ns} and checkpoint_id = ${parent_id}`);
  return parent !== undefined;
}

async function insertCheckpoint(tx: Transaction, row: NewCheckpoint): Promise<void> {
  const checkpoint = tx.cipher.sealJson(CHECKPOINT, row.checkpoint);
  const metadata = sealMetadata(tx.cipher, row.metadata);
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
        ${blob.type}, ${tx.cipher.sealBytes(BLOB_VALUE, blob.value)})`,
    ),
    sql`on conflict (thread_id, ns, channel, version) do nothing`,
  );
}

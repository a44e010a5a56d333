import { movedTo } from './checkpoint-metadata.ts';
import type { Transaction } from './db.ts';
import { raw, sql } from './sql.ts';

const BLOB = raw('ns, channel, version, base_version, appends, type, value');
const WRITE = raw('ns, checkpoint_id, task_id, idx, channel, type, value');

/**
 * Gives a thread the whole history of another. No `run_id` goes with it: the runs stay with the source, and removing
 * one of them must not take its part from the copy.
 */
export async function copyCheckpoints(tx: Transaction, source_id: string, target_id: string): Promise<void> {
  // Checkpoints first: PostgreSQL looks again for each statement, and a run may add some of all three meanwhile.
  await tx.run(sql`
    insert into checkpoints (thread_id, ns, checkpoint_id, parent_id, checkpoint, versions, metadata)
    select ${target_id}, ns, checkpoint_id, parent_id, checkpoint, versions, ${movedTo(tx.cipher, target_id)}
    from checkpoints where thread_id = ${source_id}`);
  await tx.run(sql`insert into checkpoint_blobs (thread_id, ${BLOB})
    select ${target_id}, ${BLOB} from checkpoint_blobs where thread_id = ${source_id}`);
  await tx.run(sql`insert into checkpoint_writes (thread_id, ${WRITE})
    select ${target_id}, ${WRITE} from checkpoint_writes where thread_id = ${source_id} and superseded_by = ''`);
}

import type { CheckpointKey } from './checkpoint-put.ts';
import { assemble, type CompleteRow, complete, type StoredCheckpoint } from './checkpoint-rows.ts';
import type { Db } from './db.ts';
import { sql } from './sql.ts';

export interface AncestorQuery extends CheckpointKey {
  /** Only the values of these, and only what was written to them. */
  readonly channels: readonly string[];
  readonly limit: number;
}

/** The parent of a checkpoint, its parent, and so on; nearest first. */
export async function ancestors(db: Db, query: AncestorQuery): Promise<StoredCheckpoint[]> {
  const { thread_id, ns, checkpoint_id, channels, limit } = query;
  const heads = sql`
    with recursive path (checkpoint_id, distance) as (
      select checkpoint_id, 0 from checkpoints
      where thread_id = ${thread_id} and ns = ${ns} and checkpoint_id = ${checkpoint_id}
      union all
      select c.parent_id, p.distance + 1 from path p cross join checkpoints c
      where c.thread_id = ${thread_id} and c.ns = ${ns} and c.checkpoint_id = p.checkpoint_id and p.distance < ${limit}
    )
    select c.thread_id, c.ns, c.checkpoint_id, c.parent_id, c.checkpoint, c.versions, c.metadata
    from path p cross join checkpoints c
    where c.thread_id = ${thread_id} and c.ns = ${ns} and c.checkpoint_id = p.checkpoint_id`;
  const rows = assemble(await db.all<CompleteRow>(complete(heads, channels)));
  return upwards(new Map(rows.map((row) => [row.checkpoint_id, row])), checkpoint_id);
}

function upwards(found: ReadonlyMap<string | null, StoredCheckpoint>, from: string): StoredCheckpoint[] {
  const path: StoredCheckpoint[] = [];
  let parent = found.get(found.get(from)?.parent_id ?? null);
  while (parent) {
    path.push(parent);
    parent = found.get(parent.parent_id);
  }
  return path;
}

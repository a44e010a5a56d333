import type { CheckpointKey } from './checkpoint-put.ts';
import { HEAD, type Head, type StoredCheckpoint, withValues } from './checkpoint-rows.ts';
import type { Reader } from './db.ts';
import { lookUp } from './look-up.ts';
import { sql } from './sql.ts';

export interface AncestorQuery extends CheckpointKey {
  /** Only the values of these, and only what was written to them. */
  readonly channels: readonly string[];
  readonly limit: number;
}

/** The parent of a checkpoint, its parent, and so on; nearest first. */
export async function ancestors(reader: Reader, query: AncestorQuery): Promise<StoredCheckpoint[]> {
  const { thread_id, ns, checkpoint_id, channels, limit } = query;
  const ofPath = sql`c.thread_id = ${thread_id} and c.ns = ${ns} and c.checkpoint_id = p.id`;
  const heads = await reader.all<Head>(sql`
    with recursive path (id, distance) as (
      select checkpoint_id, 0 from checkpoints
      where thread_id = ${thread_id} and ns = ${ns} and checkpoint_id = ${checkpoint_id}
      union all
      select c.parent_id, p.distance + 1 from path p ${lookUp('checkpoints', 'c', ofPath)} and p.distance < ${limit}
    )
    select ${HEAD} from path p ${lookUp('checkpoints', 'c', ofPath)} and p.distance > 0 order by p.distance`);
  return withValues(reader, heads, channels);
}

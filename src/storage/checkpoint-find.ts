import { metadataContains } from './checkpoint-metadata.ts';
import { HEAD, type Head, type StoredCheckpoint, withValues } from './checkpoint-rows.ts';
import type { Db } from './db.ts';
import type { Cipher } from './encryption/cipher.ts';
import { all, type Sql, sql } from './sql.ts';

/** Which checkpoints: each condition narrows. Newest first. */
export interface CheckpointQuery {
  readonly thread_id?: string | undefined;
  /** Undefined for those of the graph and of its subgraphs. */
  readonly ns?: string | undefined;
  readonly checkpoint_id?: string | undefined;
  /** Only checkpoints older than this one. */
  readonly before_id?: string | undefined;
  /** What the metadata must contain. */
  readonly metadata?: Record<string, unknown> | undefined;
  readonly limit?: number | undefined;
}

export async function findCheckpoints(db: Db, query: CheckpointQuery): Promise<StoredCheckpoint[]> {
  const heads = await db.all<Head>(sql`
    select ${HEAD} from checkpoints where ${all(conditions(db.cipher, query))}
    order by checkpoint_id desc ${limited(query.limit)}`);
  return withValues(db, heads);
}

function conditions(cipher: Cipher, query: CheckpointQuery): (Sql | undefined)[] {
  const { thread_id, ns, checkpoint_id, before_id, metadata } = query;
  return [
    thread_id === undefined ? undefined : sql`thread_id = ${thread_id}`,
    ns === undefined ? undefined : sql`ns = ${ns}`,
    checkpoint_id === undefined ? undefined : sql`checkpoint_id = ${checkpoint_id}`,
    before_id === undefined ? undefined : sql`checkpoint_id < ${before_id}`,
    metadata === undefined ? undefined : metadataContains(cipher, 'metadata', metadata),
  ];
}

function limited(limit: number | undefined): Sql {
  return limit === undefined ? sql`` : sql`limit ${limit}`;
}

import { nullable, text } from '../../db/columns.ts';
import type { Db, Reader } from '../../db/db.ts';
import type { Cipher } from '../../db/encryption/cipher.ts';
import { lateralJoin } from '../../db/lateral-join.ts';
import { and, type Sql, sql } from '../../db/sql.ts';
import { metadataContains } from './metadata.ts';
import {
  CHECKPOINT_COLUMNS,
  type CheckpointKey,
  damageOf,
  loadCheckpoints,
  type StoredCheckpoint,
} from './rows.ts';

/** Conditions on checkpoints; all must hold. Newest first. */
export interface CheckpointQuery {
  readonly thread_id?: string | undefined;
  /** `undefined`: the graph and its subgraphs. */
  readonly ns?: string | undefined;
  readonly checkpoint_id?: string | undefined;
  /** Only checkpoints older than this one. */
  readonly before_id?: string | undefined;
  /** Containment filter on the metadata. */
  readonly metadata?: Record<string, unknown> | undefined;
  readonly limit?: number | undefined;
}

export async function findCheckpoints(db: Db, query: CheckpointQuery): Promise<StoredCheckpoint[]> {
  const heads = await db.all(sql`
    select ${CHECKPOINT_COLUMNS} from checkpoints where ${and(conditions(db.cipher, query))}
    order by checkpoint_id desc ${limitClause(query.limit)}`);
  return loadCheckpoints(db, heads);
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

function limitClause(limit: number | undefined): Sql {
  return limit === undefined ? sql`` : sql`limit ${limit}`;
}

export interface AncestorQuery extends CheckpointKey {
  /** Loads only the values of these channels, and the writes to them. */
  readonly channels: readonly string[];
  readonly limit: number;
}

/** Ancestors of a checkpoint; nearest first. */
export async function findAncestors(reader: Reader, query: AncestorQuery): Promise<StoredCheckpoint[]> {
  const { thread_id, ns, checkpoint_id, channels, limit } = query;
  const ofPath = sql`c.thread_id = ${thread_id} and c.ns = ${ns} and c.checkpoint_id = p.id`;
  const heads = await reader.all(sql`
    with recursive path (id, distance) as (
      select checkpoint_id, 0 from checkpoints
      where thread_id = ${thread_id} and ns = ${ns} and checkpoint_id = ${checkpoint_id}
      union all
      select c.parent_id, p.distance + 1 from path p ${lateralJoin('checkpoints', 'c', ofPath)} and p.distance < ${limit}
    )
    select ${CHECKPOINT_COLUMNS} from path p ${lateralJoin('checkpoints', 'c', ofPath)} and p.distance > 0 order by p.distance`);
  return loadCheckpoints(reader, heads, channels);
}

/** Id of the newest checkpoint of a thread's root graph; null if there is none. */
export async function newestCheckpointId(reader: Reader, thread_id: string): Promise<string | null> {
  const row = await reader.get(sql`
    select max(checkpoint_id) as ${nullable(text('id'))} from checkpoints
    where thread_id = ${thread_id} and ns = ''`);
  return row?.id ?? null;
}

/** Page size once the newest checkpoint is damaged: the states of a page are in memory together. */
const PAGE = 10;

/**
 * The newest checkpoint of a thread's root graph, not of its subgraphs, that is readable in full. Returns `undefined`
 * if there is none.
 */
export async function latestReadable(reader: Reader, thread_id: string): Promise<string | undefined> {
  let before: string | undefined;
  // The first is nearly always sound.
  for (let limit = 1; ; limit = PAGE) {
    const heads = await reader.all(sql`
      select ${CHECKPOINT_COLUMNS} from checkpoints where thread_id = ${thread_id} and ns = ''
        ${before === undefined ? sql`` : sql`and checkpoint_id < ${before}`}
      order by checkpoint_id desc limit ${limit}`);
    for (const stored of await loadCheckpoints(reader, heads)) {
      if (await isReadable(reader, stored)) return stored.checkpoint_id;
    }
    if (heads.length < limit) return undefined;
    before = heads.at(-1)?.checkpoint_id;
  }
}

async function isReadable(reader: Reader, stored: StoredCheckpoint): Promise<boolean> {
  if (stored.damage !== undefined) return false;
  for (const [channel, version] of Object.entries(JSON.parse(stored.versions))) {
    const value = stored.value(channel, String(version));
    if (value && damageOf(value) !== undefined) return false;
  }
  return hasReadableDeltas(reader, stored);
}

/** LangGraph rebuilds a delta channel from what tasks wrote since its value was last stored. */
async function hasReadableDeltas(reader: Reader, stored: StoredCheckpoint): Promise<boolean> {
  const { counters_since_delta_snapshot: counters = {} } = JSON.parse(stored.metadata);
  const open = new Set(Object.keys(counters));
  let from: StoredCheckpoint | undefined = stored;
  while (from && open.size > 0) {
    const { thread_id, ns, checkpoint_id } = from;
    const path = await findAncestors(reader, {
      thread_id,
      ns,
      checkpoint_id,
      channels: [...open],
      limit: PAGE,
    });
    for (const ancestor of path) {
      for (const channel of open) {
        const writes = ancestor.writes.filter((write) => write.channel === channel);
        if (writes.some((write) => damageOf({ ...write, bytes: write.value }) !== undefined)) return false;
        const version = JSON.parse(ancestor.versions)[channel];
        const seed = version === undefined ? undefined : ancestor.value(channel, String(version));
        if (seed && damageOf(seed) !== undefined) return false;
        if (seed) open.delete(channel);
      }
    }
    from = path.at(-1);
  }
  return true;
}

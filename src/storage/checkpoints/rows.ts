import { compareCodePoints, fromUtf8 } from '../../core/text.ts';
import { columns, nulls, text } from '../../db/columns.ts';
import type { Reader } from '../../db/db.ts';
import { type Cipher, DecryptionError } from '../../db/encryption/cipher.ts';
import { jsonElements } from '../../db/json.ts';
import { lateralJoin } from '../../db/lateral-join.ts';
import { join, list, type RowOf, raw, type Sql, sql } from '../../db/sql.ts';
import { type BlobRow, decodeVersion, type StoredValue } from './delta-blobs.ts';
import { decryptMetadata } from './metadata.ts';

/** A checkpoint with its values and writes. */
export interface StoredCheckpoint extends CheckpointKey {
  readonly parent_id: string | null;
  /** JSON text, as are the next two. */
  readonly checkpoint: string;
  /** Channel → version. */
  readonly versions: string;
  readonly metadata: string;
  /** Why `checkpoint` and `metadata` are unreadable; they are then empty. */
  readonly damage?: string | undefined;
  /** Ordered by `compareWrites`. */
  readonly writes: readonly WriteRow[];
  /** The channel's value at a version; `undefined` if the channel was empty. */
  value(channel: string, version: string): StoredValue | undefined;
}

/** A row of `checkpoints`, as stored. */
export type CheckpointRow = RowOf<typeof CHECKPOINT_COLUMNS>;

/** Cipher columns. */
export const CHECKPOINT_COLUMN = 'checkpoints.checkpoint';
export const BLOB_VALUE_COLUMN = 'checkpoint_blobs.value';
export const WRITE_VALUE_COLUMN = 'checkpoint_writes.value';

const EMPTY = new Uint8Array();

/** The columns of a `CheckpointRow`. */
export const CHECKPOINT_COLUMNS = columns(
  'checkpoints',
  'thread_id, ns, checkpoint_id, parent_id, checkpoint, versions, metadata',
);

/**
 * Loads the values and writes of these checkpoints, in their order; only of `channels`, if given. Omits a checkpoint
 * that was deleted since it was read: one statement reads everything, so a checkpoint is complete or absent.
 */
export async function loadCheckpoints(
  reader: Reader,
  heads: readonly CheckpointRow[],
  channels?: readonly string[],
): Promise<StoredCheckpoint[]> {
  if (heads.length === 0) return [];
  const { cipher } = reader;
  const present = new Set<string>();
  const blobs = new Map<string, Map<string, BlobRow>>();
  const writes = new Map<string, WriteRow[]>();
  for (const row of await reader.all(relatedRows(heads, channels))) {
    const { thread_id, ns } = row;
    if (row.kind === 'head') present.add(keyOf(thread_id, ns, row.checkpoint_id));
    else if (row.kind === 'blob') {
      const { channel, version, base_version, number: appends, type } = row;
      const decrypted = decryptOrDamage(EMPTY, () => cipher.decryptBytes(BLOB_VALUE_COLUMN, row.value));
      const blob = { channel, version, base_version, appends, type, ...decrypted };
      getOrInsert(blobs, keyOf(thread_id, ns, channel), () => new Map()).set(version, blob);
    } else {
      const { checkpoint_id, task_id, task_path, number: idx, channel, type } = row;
      const decrypted = decryptOrDamage(EMPTY, () => cipher.decryptBytes(WRITE_VALUE_COLUMN, row.value));
      const write = { task_id, task_path, idx, channel, type, ...decrypted };
      getOrInsert(writes, keyOf(thread_id, ns, checkpoint_id), () => []).push(write);
    }
  }
  return heads.flatMap((head) => {
    const key = keyOf(head.thread_id, head.ns, head.checkpoint_id);
    if (!present.has(key)) return [];
    const value = (channel: string, version: string) =>
      decodeVersion(
        getOrInsert(blobs, keyOf(head.thread_id, head.ns, channel), () => new Map()),
        version,
      );
    return {
      ...head,
      ...decryptRow(cipher, head),
      writes: getOrInsert(writes, key, () => []).sort(compareWrites),
      value,
    };
  });
}

function decryptRow(
  cipher: Cipher,
  head: CheckpointRow,
): Pick<StoredCheckpoint, 'checkpoint' | 'metadata' | 'damage'> {
  const { value, damage } = decryptOrDamage({ checkpoint: '{}', metadata: '{}' }, () => ({
    checkpoint: cipher.decryptJson(CHECKPOINT_COLUMN, head.checkpoint),
    metadata: decryptMetadata(cipher, head.metadata),
  }));
  return { ...value, damage };
}

/** What `relatedRows` selects of each kind: the same columns in the same order. */
const BLOB = sql`'blob' as ${text('kind', 'blob')}, ${columns('checkpoint_blobs', 'b.thread_id, b.ns')},
  ${nulls('checkpoint_id, task_id, task_path')},
  ${columns('checkpoint_blobs', 'b.channel, b.version, b.base_version, b.appends as number, b.type, b.value')}`;
const WRITE = sql`'write' as ${text('kind', 'write')},
  ${columns('checkpoint_writes', 'p.thread_id, p.ns, p.checkpoint_id, p.task_id, p.task_path, p.channel')},
  ${nulls('version, base_version')}, ${columns('checkpoint_writes', 'p.idx as number, p.type, p.value')}`;
const HEAD = sql`'head' as ${text('kind', 'head')}, ${columns('checkpoints', 'c.thread_id, c.ns, c.checkpoint_id')},
  ${nulls('task_id, task_path, channel, version, base_version, number, type, value')}`;

type RelatedRow = RowOf<typeof BLOB> | RowOf<typeof WRITE> | RowOf<typeof HEAD>;

const BLOB_OF_WANTED = lateralJoin(
  'checkpoint_blobs',
  'b',
  sql`b.thread_id = w.thread_id and b.ns = w.ns and b.channel = w.channel and b.version = w.version`,
);

/** Recursive step of `wanted`: the versions that values are based on. */
export const BASE_VERSIONS = sql`select b.thread_id, b.ns, b.channel, b.base_version
  from wanted w ${BLOB_OF_WANTED} and b.base_version is not null`;

/**
 * The checkpoints that still exist, their values with the versions they are based on, and their writes. A value shared
 * by several checkpoints is returned once.
 */
function relatedRows(
  heads: readonly CheckpointRow[],
  channels: readonly string[] | undefined,
): Sql<RelatedRow> {
  const keys = heads.map((head) => [head.thread_id, head.ns, head.checkpoint_id]);
  const ofKey = sql`thread_id = k.value ->> 0 and ns = k.value ->> 1 and checkpoint_id = k.value ->> 2`;
  const among = channels ? sql`and channel in ${list(channels)}` : raw('');
  const selects = [
    sql`select ${BLOB} from wanted w ${BLOB_OF_WANTED}`,
    sql`select ${WRITE} from ${jsonElements(keys, 'k')}
      ${lateralJoin('checkpoint_writes', 'p', sql`${ofKey} and superseded_by = '' ${among}`)}`,
    sql`select ${HEAD} from ${jsonElements(keys, 'k')} ${lateralJoin('checkpoints', 'c', ofKey)}`,
  ];
  return sql`
    with recursive wanted (thread_id, ns, channel, version) as (
      select v.value ->> 0, v.value ->> 1, v.value ->> 2, v.value ->> 3
      from ${jsonElements(versionsOf(heads, channels), 'v')}
      union
      ${BASE_VERSIONS}
    )
    ${join<RelatedRow>(selects, ' union all ')}`;
}

/** Each distinct version of the checkpoints: thread, namespace, channel, version. */
function versionsOf(heads: readonly CheckpointRow[], channels: readonly string[] | undefined): string[][] {
  const versions = new Map<string, string[]>();
  for (const { thread_id, ns, versions: named } of heads) {
    for (const [channel, version] of Object.entries(JSON.parse(named))) {
      if (channels && !channels.includes(channel)) continue;
      const path = [thread_id, ns, channel, String(version)];
      versions.set(keyOf(...path), path);
    }
  }
  return [...versions.values()];
}

function getOrInsert<Value>(map: Map<string, Value>, key: string, make: () => Value): Value {
  const found = map.get(key) ?? make();
  map.set(key, found);
  return found;
}

function keyOf(...path: string[]): string {
  return path.join('\n');
}

/** LangGraph's `compareWritesSortKeys`: the order in which it applies the writes of parallel tasks. */
export function compareWrites(one: WriteRow, other: WriteRow): number {
  return (
    compareCodePoints(one.task_path, other.task_path) ||
    compareCodePoints(one.task_id, other.task_id) ||
    one.idx - other.idx
  );
}

/** A channel's value or a task's write, as read. */
interface Stored {
  readonly type: string;
  readonly bytes: Uint8Array;
  readonly damage?: string | undefined;
}

/**
 * Why a stored value is unreadable, as the end of a sentence: `its JSON is damaged`. Returns `undefined` if it is
 * sound: then only the graph's own library may still reject it. Parses the whole value.
 */
export function damageOf({ type, bytes, damage }: Stored): string | undefined {
  if (damage !== undefined) return damage;
  if (type === 'bytes') return undefined;
  if (type !== 'json') return `it is of the unknown type ${JSON.stringify(type)}`;
  if (bytes.length === 0) return 'nothing was stored';
  try {
    JSON.parse(fromUtf8(bytes));
    return undefined;
  } catch {
    return 'its JSON is damaged';
  }
}

/** Returns the result of `open`, or `fallback` with the damage if the value cannot be decrypted. */
function decryptOrDamage<Value>(
  fallback: Value,
  open: () => Value,
): { readonly value: Value; readonly damage?: string } {
  try {
    return { value: open() };
  } catch (error) {
    if (!(error instanceof DecryptionError)) throw error;
    return { value: fallback, damage: 'it cannot be decrypted' };
  }
}

/** Address of a checkpoint. `ns` is empty for the root graph and names a task for a subgraph. */
export interface CheckpointKey {
  readonly thread_id: string;
  readonly ns: string;
  readonly checkpoint_id: string;
}

/** What a task wrote to a channel, before the next checkpoint applies it. */
export interface WriteRow {
  readonly task_id: string;
  /** Where in its graph the task is, as LangGraph writes it; '' without a task, and from versions that do not say. */
  readonly task_path: string;
  /** Negative for what a task has one of (its error, interrupt, resume values): the last write wins. */
  readonly idx: number;
  readonly channel: string;
  readonly type: string;
  readonly value: Uint8Array;
  /** Why `value` is unreadable; it is then empty. Only in rows that were read. */
  readonly damage?: string | undefined;
}

import type { CheckpointKey } from './checkpoint-put.ts';
import type { WriteRow } from './checkpoint-writes.ts';
import { type BlobRow, readVersion, type StoredValue } from './growing-list.ts';
import { eachText } from './json.ts';
import { list, type Sql, sql } from './sql.ts';

/** A checkpoint with all that belongs to it. */
export interface StoredCheckpoint extends CheckpointKey {
  readonly parent_id: string | null;
  /** JSON text, as are the next two. */
  readonly checkpoint: string;
  /** Channel → version. */
  readonly versions: string;
  readonly metadata: string;
  /** In the order of task and `idx`. */
  readonly writes: readonly WriteRow[];
  /** The channel's value at a version; undefined where a channel had none. */
  value(channel: string, version: string): StoredValue | undefined;
}

/**
 * The rows of everything that belongs to the checkpoints in `heads`, as one statement: it sees one moment, and a
 * checkpoint that is being removed is there with all its values or not at all. A value that several checkpoints share
 * comes once. `cross join` keeps SQLite to the order in which it is written, from the few to the many.
 */
export function complete(heads: Sql, channels?: readonly string[]): Sql {
  const among = (column: Sql) => (channels ? sql`and ${column} in ${list(channels)}` : sql``);
  return sql`
    with recursive heads as (${heads}),
    wanted (thread_id, ns, channel, version) as (
      select h.thread_id, h.ns, v.key, cast(v.value as text) from heads h cross join ${eachText('h.versions', 'v')}
      where true ${among(sql`v.key`)}
      union
      select b.thread_id, b.ns, b.channel, b.base_version from wanted w cross join checkpoint_blobs b
      where b.thread_id = w.thread_id and b.ns = w.ns and b.channel = w.channel and b.version = w.version
        and b.base_version is not null
    )
    select 'head' as kind, thread_id, ns, checkpoint_id, parent_id, checkpoint, versions, metadata,
      null as channel, null as version, null as base_version, null as task_id, null as number, null as type,
      null as value
    from heads
    union all
    select 'blob', b.thread_id, b.ns, null, null, null, null, null,
      b.channel, b.version, b.base_version, null, b.appends, b.type, b.value
    from wanted w cross join checkpoint_blobs b
    where b.thread_id = w.thread_id and b.ns = w.ns and b.channel = w.channel and b.version = w.version
    union all
    select 'write', p.thread_id, p.ns, p.checkpoint_id, null, null, null, null,
      p.channel, null, null, p.task_id, p.idx, p.type, p.value
    from heads h cross join checkpoint_writes p
    where p.thread_id = h.thread_id and p.ns = h.ns and p.checkpoint_id = h.checkpoint_id and p.superseded_by = ''
      ${among(sql`p.channel`)}`;
}

type Scope = { thread_id: string; ns: string };
type HeadRow = Scope & Omit<StoredCheckpoint, 'writes' | 'value'> & { kind: 'head' };
/** A row of `complete`. */
export type CompleteRow =
  | HeadRow
  | (Scope & Omit<BlobRow, 'appends'> & { kind: 'blob'; number: number })
  | (Scope & Omit<WriteRow, 'idx'> & { kind: 'write'; checkpoint_id: string; number: number });

/** Newest first. */
export function assemble(rows: readonly CompleteRow[]): StoredCheckpoint[] {
  const heads: HeadRow[] = [];
  const blobs = new Map<string, Map<string, BlobRow>>();
  const writes = new Map<string, WriteRow[]>();
  for (const row of rows) {
    if (row.kind === 'head') heads.push(row);
    else if (row.kind === 'blob') {
      const { channel, version, base_version, number: appends, type, value } = row;
      const blob = { channel, version, base_version, appends, type, value };
      at(blobs, [row.thread_id, row.ns, channel], () => new Map()).set(version, blob);
    } else {
      const { task_id, number: idx, channel, type, value } = row;
      const write = { task_id, idx, channel, type, value };
      at(writes, [row.thread_id, row.ns, row.checkpoint_id], () => []).push(write);
    }
  }
  return heads.sort(newestFirst).map(({ kind: _, ...head }) => ({
    ...head,
    writes: at(writes, [head.thread_id, head.ns, head.checkpoint_id], () => []).sort(byTask),
    value: (channel, version) =>
      readVersion(
        at(blobs, [head.thread_id, head.ns, channel], () => new Map()),
        channel,
        version,
      ),
  }));
}

function at<Value>(map: Map<string, Value>, path: readonly string[], make: () => Value): Value {
  const key = JSON.stringify(path);
  const found = map.get(key) ?? make();
  map.set(key, found);
  return found;
}

function newestFirst(one: HeadRow, other: HeadRow): number {
  return one.checkpoint_id < other.checkpoint_id ? 1 : -1;
}

/** Replaying the writes of parallel tasks must give what applying them gave: LangGraph goes by the task's id. */
export function byTask(one: WriteRow, other: WriteRow): number {
  if (one.task_id !== other.task_id) return one.task_id < other.task_id ? -1 : 1;
  return one.idx - other.idx;
}

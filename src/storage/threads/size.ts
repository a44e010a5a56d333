import { columns, number } from '../../db/columns.ts';
import type { Reader } from '../../db/db.ts';
import { raw, type Sql, sql } from '../../db/sql.ts';
import type { ThreadStorage } from '../../schemas/threads.ts';

const CHECKPOINT_BYTES = ['checkpoint', 'versions', 'metadata'];

/** Size of a thread's history; zeros without one. Excludes row and index overhead of the database. */
export async function threadSize(reader: Reader, thread_id: string): Promise<ThreadStorage> {
  const [checkpoints, values, pending_writes] = await Promise.all([
    sizeOf(reader, sql`checkpoints`, thread_id, CHECKPOINT_BYTES),
    valueSizes(reader, thread_id),
    sizeOf(reader, sql`checkpoint_writes`, thread_id, ['value']),
  ]);
  const count = values.reduce((sum, { versions }) => sum + versions, 0);
  const bytes = values.reduce((sum, channel) => sum + channel.bytes, 0);
  return {
    thread_id,
    total_bytes: checkpoints.bytes + bytes + pending_writes.bytes,
    checkpoints,
    channel_values: {
      count,
      bytes,
      by_channel: Object.fromEntries(values.map(({ channel, ...size }) => [channel, size])),
    },
    pending_writes,
  };
}

async function sizeOf(reader: Reader, table: Sql, thread_id: string, stored: readonly string[]) {
  const size = await reader.get(sql`
    select count(*) as ${number('count')}, ${bytesOf(stored)} as ${number('bytes')}
    from ${table} where thread_id = ${thread_id}`);
  return { count: size?.count ?? 0, bytes: size?.bytes ?? 0 };
}

function valueSizes(
  reader: Reader,
  thread_id: string,
): Promise<{ channel: string; versions: number; bytes: number }[]> {
  return reader.all(sql`
    select ${columns('checkpoint_blobs', 'channel')}, count(*) as ${number('versions')},
      ${bytesOf(['value'])} as ${number('bytes')}
    from checkpoint_blobs where thread_id = ${thread_id} group by channel order by channel`);
}

/** Stored size, not size as read: a list that only grew is stored as deltas. */
function bytesOf(stored: readonly string[]): Sql {
  const bytes = stored.map((column) => (column === 'value' ? column : `cast(${column} as text)`));
  return raw(`cast(coalesce(sum(${bytes.map((each) => `octet_length(${each})`).join(' + ')}), 0) as bigint)`);
}

/** Adds `total_bytes`, one thread after the other: reads of SQLite block the event loop. */
export async function withSizes<T extends { readonly thread_id: string }>(
  reader: Reader,
  threads: readonly T[],
): Promise<(T & { total_bytes: number })[]> {
  const sized: (T & { total_bytes: number })[] = [];
  for (const thread of threads) {
    sized.push({ ...thread, total_bytes: await totalBytes(reader, thread.thread_id) });
  }
  return sized;
}

/** `total_bytes` of `threadSize`. */
async function totalBytes(reader: Reader, thread_id: string): Promise<number> {
  const of = (table: string, stored: readonly string[]) =>
    sql`(select ${bytesOf(stored)} from ${raw(table)} where thread_id = ${thread_id})`;
  const row = await reader.get(sql`
    select ${of('checkpoints', CHECKPOINT_BYTES)} + ${of('checkpoint_blobs', ['value'])}
      + ${of('checkpoint_writes', ['value'])} as ${number('bytes')}`);
  return row?.bytes ?? 0;
}

import type { ThreadStorage } from '../schemas/threads.ts';
import type { Reader } from './db.ts';
import { raw, type Sql, sql } from './sql.ts';

interface Size {
  readonly count: number;
  readonly bytes: number;
}

/** What the history of a thread takes; zeros when it has none. Rows and indexes of the database are not counted. */
export async function threadSize(reader: Reader, thread_id: string): Promise<ThreadStorage> {
  const [checkpoints, values, pending_writes] = await Promise.all([
    sizeOf(reader, sql`checkpoints`, thread_id, ['checkpoint', 'versions', 'metadata']),
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

async function sizeOf(reader: Reader, table: Sql, thread_id: string, columns: string[]): Promise<Size> {
  const size = await reader.get<Size>(sql`select count(*) as count, ${bytesOf(columns)} as bytes
    from ${table} where thread_id = ${thread_id}`);
  return { count: size?.count ?? 0, bytes: size?.bytes ?? 0 };
}

function valueSizes(
  reader: Reader,
  thread_id: string,
): Promise<{ channel: string; versions: number; bytes: number }[]> {
  return reader.all(sql`select channel, count(*) as versions, ${bytesOf(['value'])} as bytes
    from checkpoint_blobs where thread_id = ${thread_id} group by channel order by channel`);
}

/** A list that only grew is stored by what was appended: its size is what is stored, not what is read. */
function bytesOf(columns: readonly string[]): Sql {
  const bytes = columns.map((column) => (column === 'value' ? column : `cast(${column} as text)`));
  return raw(`cast(coalesce(sum(${bytes.map((each) => `octet_length(${each})`).join(' + ')}), 0) as bigint)`);
}

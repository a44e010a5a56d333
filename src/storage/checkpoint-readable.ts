import { ancestors } from './checkpoint-ancestors.ts';
import { damageOf } from './checkpoint-damage.ts';
import { HEAD, type Head, type StoredCheckpoint, withValues } from './checkpoint-rows.ts';
import type { Reader } from './db.ts';
import { sql } from './sql.ts';

/** So many checkpoints are read at once when the newest is damaged: their states are in memory together. */
const PAGE = 10;

/**
 * The newest checkpoint of a thread's own graph, not of its subgraphs, of which everything can be read. Undefined when
 * there is none.
 */
export async function newestReadable(reader: Reader, thread_id: string): Promise<string | undefined> {
  let before: string | undefined;
  // Nearly always the first is sound.
  for (let limit = 1; ; limit = PAGE) {
    const heads = await reader.all<Head>(sql`
      select ${HEAD} from checkpoints where thread_id = ${thread_id} and ns = ''
        ${before === undefined ? sql`` : sql`and checkpoint_id < ${before}`}
      order by checkpoint_id desc limit ${limit}`);
    for (const stored of await withValues(reader, heads)) {
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

/** A channel that LangGraph stores as changes is put together from what tasks wrote since its value was stored. */
async function hasReadableDeltas(reader: Reader, stored: StoredCheckpoint): Promise<boolean> {
  const { counters_since_delta_snapshot: counters = {} } = JSON.parse(stored.metadata);
  const open = new Set(Object.keys(counters));
  let from: StoredCheckpoint | undefined = stored;
  while (from && open.size > 0) {
    const { thread_id, ns, checkpoint_id } = from;
    const path = await ancestors(reader, { thread_id, ns, checkpoint_id, channels: [...open], limit: PAGE });
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

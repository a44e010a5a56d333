import { toJson } from '../../src/core/json.ts';
import type { Db } from '../../src/db/db.ts';
import { jsonElements } from '../../src/db/json.ts';
import { type DialectSql, raw, type Sql, sql } from '../../src/db/sql.ts';
import { serializeState } from '../../src/storage/threads/values-summary.ts';

const BATCH = 5000;
const START = Date.UTC(2026, 0, 1);

/** Ten threads have the same user, a thousandth the same tag and topic, a third the same region, all the graph. */
function metadataOf(n: number) {
  return {
    graph_id: 'echo',
    user: `user-${Math.floor(n / 10)}`,
    tags: [`tag-${n % 1000}`, n % 2 === 0 ? 'even' : 'odd'],
    project: { id: n % 5000, region: ['eu', 'us', 'ap'][n % 3] },
  };
}

/** One in a hundred has been interrupted, one in five thousand failed. */
function statusOf(n: number): string {
  if (n % 5000 === 11) return 'error';
  return n % 100 === 7 ? 'interrupted' : 'idle';
}

/** Ids as a client chooses them: in no order. */
export function seededThreadId(n: number): string {
  const mixed = (Math.imul(n, 0x9e3779b1) >>> 0).toString(16).padStart(8, '0');
  return `${mixed}-0000-4000-8000-${String(n).padStart(12, '0')}`;
}

/**
 * Threads that have had a run, written straight into the tables: in the order of their creation, changed in another.
 * `state` is the value of each.
 */
export async function seedThreads(
  db: Db,
  count: number,
  state = (n: number): unknown => ({ topic: `topic-${n % 1000}`, turns: n % 7 }),
  metadata: (n: number) => unknown = metadataOf,
): Promise<void> {
  for (let from = 0; from < count; from += BATCH) {
    const rows = Array.from({ length: Math.min(BATCH, count - from) }, (_, i) => {
      const n = from + i;
      const { text, summary: values_summary } = serializeState(state(n));
      const changed = (n * 7919) % 1_000_003;
      return {
        thread_id: seededThreadId(n),
        status: statusOf(n),
        created_at: new Date(START + n * 1000).toISOString(),
        updated_at: new Date(START + changed * 1000).toISOString(),
        metadata: toJson(metadata(n)),
        value: text,
        values_summary,
      };
    });
    await insert(db, rows);
  }
  // PostgreSQL chooses by statistics, which a server in use has.
  if (db.dialect === 'postgres') await db.run(raw('analyze'));
}

async function insert(db: Db, rows: readonly object[]): Promise<void> {
  const from = jsonElements(rows, 'seeded');
  await db.transaction('async', async (tx) => {
    await tx.run(sql`
      insert into threads (thread_id, status, metadata, values_summary, config, error, interrupts, created_at, updated_at,
        state_updated_at)
      select ${member('thread_id', 'uuid')}, ${member('status', 'text')}, ${member('metadata', 'jsonb')},
        ${member('values_summary', 'jsonb')}, '{}', null, '{}', ${member('created_at', 'timestamptz')}, ${member('updated_at', 'timestamptz')},
        ${member('updated_at', 'timestamptz')} from ${from}`);
    await tx.run(sql`insert into thread_values (thread_id, value)
      select ${member('thread_id', 'uuid')}, ${member('value', 'json')} from ${from}`);
  });
}

/** A member of a seeded row, in its PostgreSQL type. */
function member(name: string, type: string): DialectSql {
  const text: Sql = raw(`(value ->> '${name}')`);
  return { sqlite: text, postgres: sql`${text}::${raw(type)}` };
}

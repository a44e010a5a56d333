import { toJson } from '../../src/core/json.ts';
import type { Db } from '../../src/db/db.ts';
import { jsonElements } from '../../src/db/json.ts';
import { type DialectSql, raw, type Sql, sql } from '../../src/db/sql.ts';
import type { RunStatus } from '../../src/schemas/runs.ts';
import { seededThreadId } from './seeded-threads.ts';

const BATCH = 5000;
const START = Date.UTC(2026, 0, 1);

/** In the order of their creation, one a second. */
export function seededRunId(n: number): string {
  return `01900000-0000-7000-8000-${n.toString(16).padStart(12, '0')}`;
}

export function seededRunTime(n: number): string {
  return new Date(START + n * 1000).toISOString();
}

/** Nine in ten have the same assistant, a thousandth the third. */
export function seededAssistantId(n: number): string {
  const which = n % 1000 === 500 ? 3 : n % 10 === 9 ? 2 : 1;
  return `00000000-0000-4000-8000-00000000000${which}`;
}

/** Two in a hundred failed, each in its own way. */
function errorOf(n: number): { status: RunStatus; error: object | null } {
  if (n % 100 === 3) return { status: 'error', error: { error: 'TypeError', message: `No tool ${n}` } };
  if (n % 200 === 7) return { status: 'timeout', error: { error: 'TimeoutError', message: 'Too slow' } };
  if (n % 200 === 107) return { status: 'interrupted', error: { error: 'UserInterrupt', message: '' } };
  return { status: 'success', error: null };
}

/** Ended runs on the first `threads` of `seedThreads`, in turn, written straight into the table. */
export async function seedRuns(db: Db, count: number, threads: number): Promise<void> {
  for (let from = 0; from < count; from += BATCH) {
    const rows = Array.from({ length: Math.min(BATCH, count - from) }, (_, i) =>
      seededRun(from + i, threads),
    );
    await insert(db, rows);
  }
  if (db.dialect === 'postgres') await db.run(raw('analyze'));
}

function seededRun(n: number, threads: number) {
  const at = seededRunTime(n);
  return {
    run_id: seededRunId(n),
    thread_id: seededThreadId((n * 7919) % threads),
    assistant_id: seededAssistantId(n),
    metadata: toJson({
      created_by: 'system',
      graph_id: 'echo',
      ticket: `ticket-${n}`,
      kind: `kind-${n % 3}`,
    }),
    kwargs: toJson({ input: { messages: [{ role: 'user', content: 'Hello'.padEnd(300, '.') }] } }),
    at,
    ...errorOf(n),
  };
}

async function insert(db: Db, rows: readonly object[]): Promise<void> {
  await db.transaction('async', async (tx) => {
    await tx.run(sql`
      insert into runs (run_id, thread_id, assistant_id, assistant_name, assistant_version, status, metadata, kwargs, multitask_strategy, attempt, error,
        created_at, updated_at, started_at, ended_at)
      select ${member('run_id', 'uuid')}, ${member('thread_id', 'uuid')}, ${member('assistant_id', 'uuid')}, 'seeded', 1,
        ${member('status', 'text')}, ${member('metadata', 'jsonb')}, ${member('kwargs', 'json')}, 'enqueue', 1,
        ${member('error', 'json')}, ${member('at', 'timestamptz')}, ${member('at', 'timestamptz')},
        ${member('at', 'timestamptz')}, ${member('at', 'timestamptz')}
      from ${jsonElements(rows, 'seeded')}`);
  });
}

/** A member of a seeded row, in its PostgreSQL type. */
function member(name: string, type: string): DialectSql {
  const text: Sql = raw(`(value ->> '${name}')`);
  return { sqlite: text, postgres: sql`${text}::${raw(type)}` };
}

import { number } from '../../../src/db/columns.ts';
import type { Db } from '../../../src/db/db.ts';
import { raw, sql } from '../../../src/db/sql.ts';
import { seedInterrupts } from '../../support/seeded-interrupts.ts';
import { seededAssistantId, seededRunTime, seedRuns } from '../../support/seeded-runs.ts';
import { seededThreadId, seedThreads } from '../../support/seeded-threads.ts';
import { benchServer } from '../bench-server.ts';
import { measureLoad } from '../load.ts';
import { type Measurement, percentile, type Scenario } from '../measurements.ts';
import { ENGINES, type MakeDatabase } from '../search-database.ts';

const RUNS = 1_000_000;
const THREADS = 100_000;
const CHECKPOINTS = 10_000;
const REQUESTS = 100;
const WARM_UP = 10;
const AIM_MS = 20;
const MEGABYTE = 1024 ** 2;

/** What is asked, each time in other words. A count of very many is asked a few times only, and has no aim. */
type Question = readonly [what: string, path: string, body: (n: number) => object, requests?: number];

const EU = { project: { region: 'eu' } };
const hour = (n: number) => ({
  created_from: seededRunTime(n * 5000),
  created_to: seededRunTime(n * 5000 + 3600),
});

const DUE = { deadline_to: '2026-06-01T00:00:00Z' };
const hourOfWaiting = (n: number) => {
  const { created_from: since_from, created_to: since_to } = hour(n);
  return { since_from, since_to };
};

const QUESTIONS: readonly Question[] = [
  ['newest runs', '/runs/search', () => ({})],
  ['a hundred newest runs', '/runs/search', () => ({ limit: 100 })],
  ['runs of an hour in the middle', '/runs/search', hour],
  ['failed runs', '/runs/search', () => ({ status: ['error', 'timeout'] })],
  ['runs in progress, of which there are none', '/runs/search', () => ({ status: ['pending', 'running'] })],
  ['runs of an assistant', '/runs/search', () => ({ assistant_id: seededAssistantId(9) })],
  ['runs of a rare assistant', '/runs/search', () => ({ assistant_id: seededAssistantId(500) })],
  [
    'a rare status of an assistant',
    '/runs/search',
    () => ({ assistant_id: seededAssistantId(9), status: 'timeout' }),
  ],
  ['runs on the threads of a user', '/runs/search', (n) => ({ thread_metadata: { user: `user-${n * 31}` } })],
  [
    'runs on a thousandth of all threads',
    '/runs/search',
    (n) => ({ thread_metadata: { tags: [`tag-${n}`] } }),
  ],
  ['runs on a third of all threads', '/runs/search', () => ({ thread_metadata: EU })],
  ['run metadata of a third', '/runs/search', () => ({ metadata: { kind: 'kind-1' } })],
  ['run metadata of one run, a page', '/runs/search', (n) => ({ metadata: { ticket: `ticket-${n}` } })],
  ['a frequent error text', '/runs/search', () => ({ error: 'no tool' })],
  ['a rare error text, a page', '/runs/search', (n) => ({ error: `no tool ${n}03` })],
  ['waiting interrupts', '/interrupts/search', () => ({})],
  [
    'waiting interrupts of a user',
    '/interrupts/search',
    (n) => ({ thread_metadata: { user: `user-${n * 10}` } }),
  ],
  [
    'waiting interrupts of an assistant',
    '/interrupts/search',
    () => ({ assistant_id: seededAssistantId(1) }),
  ],
  ['interrupts that wait for an hour in the middle', '/interrupts/search', hourOfWaiting],
  ['interrupts with a deadline, of which there are none', '/interrupts/search', () => DUE],
  ['count of failed runs', '/runs/count', () => ({ status: 'error' })],
  ['count of runs in progress', '/runs/count', () => ({ status: ['pending', 'running'] })],
  ['count of the runs of a user', '/runs/count', (n) => ({ thread_metadata: { user: `user-${n * 31}` } })],
  ['count of the runs of an hour', '/runs/count', hour],
  ['count of 2,000 waiting interrupts', '/interrupts/count', () => ({}), 20],
  ['count of all runs', '/runs/count', () => ({}), 20],
  [
    'count of a tenth of all, by assistant',
    '/runs/count',
    () => ({ assistant_id: seededAssistantId(9) }),
    10,
  ],
  ['count of a third of all, by thread', '/runs/count', () => ({ thread_metadata: EU }), 3],
  ['count of a third of all, by run metadata', '/runs/count', () => ({ metadata: { kind: 'kind-1' } }), 3],
];

/** Are lists over all threads fast among a million runs? Seeded directly, asked over HTTP. */
export const lists: Scenario = {
  title: `Lists over all threads: ${RUNS.toLocaleString('en')} runs on ${THREADS.toLocaleString('en')} threads`,
  async run() {
    const measurements: Measurement[] = [];
    for (const [engine, make] of Object.entries(ENGINES)) measurements.push(...(await measure(engine, make)));
    return measurements;
  },
};

async function measure(engine: string, make: MakeDatabase): Promise<Measurement[]> {
  await using database = await make();
  const bytes = await database.within(async (db) => {
    await seedThreads(db, THREADS);
    await seedRuns(db, RUNS, THREADS);
    await seedInterrupts(db, 2);
    await seedCheckpoints(db);
    return indexBytes(db);
  });
  await using server = await benchServer({ database: database.uri });
  const ask = async (what: string, request: (n: number) => Promise<unknown>, count = REQUESTS) => {
    for (let n = 0; n < Math.min(WARM_UP, count - 1); n++) await request(count + n);
    const { latencies_ms } = await measureLoad({ concurrency: 1, count, request });
    return latency(`${engine}: ${what}`, latencies_ms, count < REQUESTS ? undefined : AIM_MS);
  };
  const measurements: Measurement[] = [];
  for (const [what, path, body, count] of QUESTIONS) {
    measurements.push(...(await ask(what, (n) => server.http.call('POST', path, body(n)), count)));
  }
  const tree = `/threads/${seededThreadId(1)}/tree`;
  measurements.push(...(await ask('100 of 10,000 checkpoints', () => server.http.call('GET', tree))));
  measurements.push({ what: `${engine}: indexes for these lists`, value: bytes / MEGABYTE, unit: 'MB' });
  return measurements;
}

function latency(what: string, latencies_ms: readonly number[], aim?: number): Measurement[] {
  const [p50, p95] = [percentile(latencies_ms, 0.5), percentile(latencies_ms, 0.95)];
  return [
    { what: `${what} p50`, value: p50, unit: 'ms', ...(aim === undefined ? {} : { aim }) },
    { what: `${what} p95`, value: p95, unit: 'ms' },
  ];
}

/** A long thread, each step of which changes a list. */
async function seedCheckpoints(db: Db): Promise<void> {
  await db.transaction('async', async (tx) => {
    for (let n = 0; n < CHECKPOINTS; n++) {
      const id = (step: number) => `1f0c0000-${step.toString(16).padStart(12, '0')}`;
      await tx.run(sql`
        insert into checkpoints (thread_id, ns, checkpoint_id, parent_id, run_id, checkpoint, versions, metadata)
        values (${seededThreadId(1)}, '', ${id(n)}, ${n === 0 ? null : id(n - 1)}, null,
          ${JSON.stringify({ v: 4, ts: seededRunTime(n), versions_seen: { agent: { messages: n } } })},
          ${JSON.stringify({ messages: n, 'branch:to:agent': n })},
          ${JSON.stringify({ source: 'loop', step: n, thread_id: seededThreadId(1) })})`);
    }
  });
  if (db.dialect === 'postgres') await db.run(raw('analyze'));
}

const INDEXES = `('runs_created', 'runs_assistant_created', 'runs_failed_created', 'threads_waiting')`;

async function indexBytes(db: Db): Promise<number> {
  const size = await db.get(
    db.dialect === 'sqlite'
      ? sql`select sum(pgsize) as ${number('bytes')} from dbstat where name in ${raw(INDEXES)} and aggregate = 1`
      : sql`select sum(pg_relation_size(indexrelid)) as ${number('bytes')} from pg_stat_user_indexes
          where indexrelname in ${raw(INDEXES)} and schemaname = current_schema()`,
  );
  return Number(size?.bytes ?? 0);
}

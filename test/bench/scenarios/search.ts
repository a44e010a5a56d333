import { number } from '../../../src/db/columns.ts';
import type { Db } from '../../../src/db/db.ts';
import { sql } from '../../../src/db/sql.ts';
import { seedThreads } from '../../support/seeded-threads.ts';
import { type BenchServer, benchServer } from '../bench-server.ts';
import { measureLoad } from '../load.ts';
import { type Measurement, percentile, type Scenario } from '../measurements.ts';
import { ENGINES, type MakeDatabase } from '../search-database.ts';

const SIZES = [1_000, 100_000, 1_000_000];
const REQUESTS = 200;
const WARM_UP = 20;
const CREATIONS = 400;
const MEGABYTE = 1024 ** 2;

/** What is asked of a server with `count` threads, each time in other words. */
type Question = readonly [what: string, path: string, body: (n: number, count: number) => object];

const QUESTIONS: readonly Question[] = [
  ['selective metadata', '/threads/search', (n, count) => ({ metadata: { user: userOf(n, count) } })],
  [
    'nested and list metadata',
    '/threads/search',
    (n) => ({ metadata: { tags: [`tag-${n}`], project: { region: 'eu' } } }),
  ],
  ['metadata of a third of all', '/threads/search', () => ({ metadata: { project: { region: 'eu' } } })],
  ['status of one in a hundred', '/threads/search', () => ({ status: 'interrupted' })],
  ['newest page', '/threads/search', () => ({})],
  ['page in the middle', '/threads/search', (_, count) => ({ offset: count / 2 })],
  ['values', '/threads/search', (n) => ({ values: { topic: `topic-${n}` } })],
  ['extract', '/threads/search', () => ({ select: ['thread_id'], extract: { topic: 'values.topic' } })],
  ['count of selective metadata', '/threads/count', (n, count) => ({ metadata: { user: userOf(n, count) } })],
  ['count of a status', '/threads/count', () => ({ status: 'interrupted' })],
  ['count of all', '/threads/count', () => ({})],
];

/** Do searches stay fast when there are many threads, or large ones? Seeded directly, asked over HTTP. */
export const search: Scenario = {
  title: `Search among ${SIZES.map((size) => size.toLocaleString('en')).join(', ')} threads`,
  async run() {
    const measurements: Measurement[] = [];
    for (const [engine, make] of Object.entries(ENGINES)) {
      measurements.push(...(await manyThreads(engine, make)), ...(await largeThreads(engine, make)));
    }
    return measurements;
  },
};

function userOf(n: number, count: number): string {
  return `user-${Math.floor((n * 7919) % (count / 10))}`;
}

async function manyThreads(engine: string, make: MakeDatabase): Promise<Measurement[]> {
  const measurements: Measurement[] = [];
  const selective_ms: number[] = [];
  for (const count of SIZES) {
    await using database = await make();
    const bytes = await database.within(async (db) => {
      await seedThreads(db, count);
      return indexBytes(db);
    });
    await using server = await benchServer({ database: database.uri });
    const title = `${engine}, ${count.toLocaleString('en')}:`;
    for (const [what, path, body] of QUESTIONS) {
      const latencies = await ask(server, path, (n) => body(n, count));
      if (what === 'selective metadata') selective_ms.push(percentile(latencies, 0.5));
      measurements.push(...latency(`${title} ${what}`, latencies));
    }
    for (const [what, metadata] of [
      ['no', {}],
      ['six values of', SIX],
    ] as const) {
      const latencies = await ask(server, '/threads', () => ({ metadata }), CREATIONS);
      measurements.push(...latency(`${title} creation with ${what} metadata`, latencies));
    }
    measurements.push({ what: `${title} index of metadata`, value: bytes / MEGABYTE, unit: 'MB' });
  }
  const ratio = (selective_ms.at(-1) as number) / (selective_ms[0] as number);
  return [
    ...measurements,
    { what: `${engine}: selective metadata, most ÷ fewest threads`, value: ratio, unit: '×', aim: 3 },
  ];
}

const SIX = { user: 'u', team: 't', tags: ['a', 'b'], project: { id: 1, region: 'eu' } };

/** A hundred threads whose states are a megabyte each, on one page. */
async function largeThreads(engine: string, make: MakeDatabase): Promise<Measurement[]> {
  await using database = await make();
  const messages = Array.from({ length: 1000 }, (_, n) => ({
    role: 'user',
    content: `${n}`.padEnd(1000, '.'),
  }));
  await database.within((db) => seedThreads(db, 100, (n) => ({ topic: `topic-${n}`, messages })));
  await using server = await benchServer({ database: database.uri });
  const page = { limit: 100, select: ['thread_id', 'status', 'metadata', 'updated_at'] };
  const listed = await ask(server, '/threads/search', () => page);
  const topics = await ask(server, '/threads/search', () => ({
    ...page,
    extract: { topic: 'values.topic' },
  }));
  const last = await ask(
    server,
    '/threads/search',
    () => ({ ...page, extract: { last: 'values.messages[-1]' } }),
    10,
  );
  const title = `${engine}, 100 threads of 1 MB:`;
  return [
    ...latency(`${title} listed`, listed, 20),
    ...latency(`${title} listed with a small value`, topics),
    ...latency(`${title} listed with the last message`, last),
  ];
}

async function ask(
  { http }: BenchServer,
  path: string,
  body: (n: number) => object,
  count = REQUESTS,
): Promise<number[]> {
  for (let n = 0; n < WARM_UP; n++) await http.call('POST', path, body(count + n));
  const request = (n: number) => http.call('POST', path, body(n));
  return (await measureLoad({ concurrency: 1, count, request })).latencies_ms;
}

function latency(what: string, latencies_ms: readonly number[], aim?: number): Measurement[] {
  return [
    {
      what: `${what} p50`,
      value: percentile(latencies_ms, 0.5),
      unit: 'ms',
      ...(aim === undefined ? {} : { aim }),
    },
    { what: `${what} p95`, value: percentile(latencies_ms, 0.95), unit: 'ms' },
  ];
}

async function indexBytes(db: Db): Promise<number> {
  const size = await db.get(
    db.dialect === 'sqlite'
      ? sql`select sum(pgsize) as ${number('bytes')} from dbstat
          where name = 'threads_metadata_terms' and aggregate = 1`
      : sql`select pg_relation_size('threads_metadata') as ${number('bytes')}`,
  );
  return size?.bytes ?? 0;
}

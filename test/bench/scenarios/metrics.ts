import { randomUUID } from 'node:crypto';
import type { Db } from '../../../src/db/db.ts';
import { raw, type Sql, sql } from '../../../src/db/sql.ts';
import { queueStory } from '../../support/queued-runs.ts';
import { type BenchServer, benchServer } from '../bench-server.ts';
import { measureLoad } from '../load.ts';
import { type Measurement, percentile, type Scenario } from '../measurements.ts';
import { ENGINES } from '../search-database.ts';
import { addWaiting } from './queue-depth.ts';

/** Threads, each with a run that has ended. */
const SIZES = [1_000, 1_000_000];
/** Runs that wait, webhook deliveries that are dead, and as many that wait, for each ten threads. */
const SHARE = 10;
const SCRAPES = 100;
const WARM_UP = 5;
const BATCH = 20_000;

/** Does a scrape of `/metrics` cost the same however much is stored? */
export const metrics: Scenario = {
  title: `/metrics with ${SIZES.map((size) => size.toLocaleString('en')).join(' and ')} threads and runs`,
  async run() {
    const measurements: Measurement[] = [];
    for (const [engine, make] of Object.entries(ENGINES)) {
      for (const size of SIZES) {
        await using database = await make();
        await database.within((db) => seed(db, size));
        // Without slots, so that what waits goes on waiting.
        await using server = await benchServer({ database: database.uri, concurrency: 0 });
        measurements.push(...(await scrapes(`${engine}, ${size.toLocaleString('en')}:`, server)));
      }
    }
    return measurements;
  },
};

async function scrapes(where: string, { http, cpu, process: { url } }: BenchServer): Promise<Measurement[]> {
  type Document = { paths: Record<string, Record<string, unknown>> };
  const { paths } = await http.call<Document>('GET', '/openapi.json');
  for (const [path, methods] of Object.entries(paths)) await askEvery(url + path, Object.keys(methods));
  let series = 0;
  const request = async () => {
    const text = await (await fetch(`${url}/metrics`)).text();
    series = text.split('\n').filter((line) => !line.startsWith('#')).length;
  };
  await measureLoad({ concurrency: 1, count: WARM_UP, request });
  const cpu_before = cpu();
  const { latencies_ms } = await measureLoad({ concurrency: 1, count: SCRAPES, request });
  const cpu_ms = ((cpu() - cpu_before) * 1000) / SCRAPES;
  return [
    { what: `${where} a scrape p50`, value: percentile(latencies_ms, 0.5), unit: 'ms', aim: 20 },
    { what: `${where} a scrape p95`, value: percentile(latencies_ms, 0.95), unit: 'ms' },
    { what: `${where} CPU a scrape`, value: cpu_ms, unit: 'ms' },
    { what: `${where} time series`, value: series, unit: '' },
  ];
}

/** Each method twice, with different outcomes: as many time series as a server in use has. */
async function askEvery(path: string, methods: readonly string[]): Promise<void> {
  const url = path.replaceAll(/\{\w+\}/g, randomUUID());
  for (const method of methods.map((each) => each.toUpperCase()))
    for (const type of ['application/json', 'text/plain']) {
      const body = method === 'GET' ? undefined : 'not JSON';
      const init = { method, headers: { 'content-type': type }, signal: AbortSignal.timeout(2000) };
      // Streams do not end.
      await fetch(url, body === undefined ? init : { ...init, body }).catch(() => {});
    }
}

async function seed(db: Db, size: number): Promise<void> {
  const run = await queueStory(db).add(randomUUID());
  await addWaiting(db, size / SHARE);
  const isPostgres = db.dialect === 'postgres';
  const now = raw(isPostgres ? 'clock_timestamp()' : `strftime('%Y-%m-%dT%H:%M:%fZ', 'now')`);
  const later = raw(
    isPostgres ? `now() + interval '1 day'` : `strftime('%Y-%m-%dT%H:%M:%fZ', 'now', '1 day')`,
  );
  const uuid = (n: string) =>
    raw(isPostgres ? `lpad(to_hex(${n}), 32, '0')::uuid` : `printf('00000000-0000-0000-0000-%012x', ${n})`);
  /** A statement of PostgreSQL may take eight seconds. */
  const inBatches = async (count: number, insert: (numbers: Sql) => Sql) => {
    for (let from = 1; from <= count; from += BATCH)
      await db.run(
        insert(sql`with recursive numbers (n) as (
          select ${raw(String(from))} union all
          select n + 1 from numbers where n < ${raw(String(Math.min(count, from + BATCH - 1)))})`),
      );
  };
  await inBatches(
    size,
    (numbers) => sql`${numbers}
      insert into threads (thread_id, status, metadata, config, created_at, updated_at, state_updated_at)
      select ${uuid('n')}, 'idle', '{}', '{}', ${now}, ${now}, ${now} from numbers`,
  );
  await inBatches(
    size,
    (numbers) => sql`${numbers}
      insert into runs (run_id, thread_id, assistant_id, assistant_name, assistant_version, status, metadata, kwargs, multitask_strategy, attempt, created_at,
        updated_at)
      select ${uuid('n')}, ${uuid('n')}, r.assistant_id, r.assistant_name, r.assistant_version, 'success', '{}', r.kwargs, 'enqueue', 1, ${now}, ${now}
      from numbers cross join runs r where r.run_id = ${run}`,
  );
  for (const status of ['dead', 'pending'])
    await inBatches(
      size / SHARE,
      (numbers) => sql`${numbers}
        insert into webhook_outbox (kind, metadata, url, shown_url, host, headers, status, next_at, created_at, round_at,
          body)
        select 'run', '{}', 'https://a.example', 'https://a.example', 'a.example', '{}', ${status}, ${later}, ${now}, ${now},
          '{}'
        from numbers`,
    );
  if (isPostgres) await db.run(raw('analyze'));
}

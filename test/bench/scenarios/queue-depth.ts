import { randomUUID } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { Db } from '../../../src/db/db.ts';
import { openPostgres } from '../../../src/db/engines/postgres.ts';
import { openSqlite } from '../../../src/db/engines/sqlite.ts';
import { migrate } from '../../../src/db/migrate.ts';
import { raw, sql } from '../../../src/db/sql.ts';
import { makeDataFolder } from '../../support/data-folder.ts';
import { postgresSchema, TEST_POSTGRES_URI } from '../../support/postgres-schema.ts';
import { FAILURE_RULES, newRun, queueStory, request, WORKER } from '../../support/queued-runs.ts';
import { type Measurement, percentile, type Scenario } from '../measurements.ts';

const DEPTHS = [10, 10_000, 200_000];
const TIMES = 40;
const REAP = { ...FAILURE_RULES, worker_id: randomUUID(), backoff_ms: 0 };

/** What the queue costs while very many runs wait; on PostgreSQL too where `TEST_POSTGRES_URI` names a server. */
export const queueDepth: Scenario = {
  title: 'The queue with 10, 10,000 and 200,000 waiting runs',
  async run() {
    const measurements: Measurement[] = [];
    const folder = await makeDataFolder();
    {
      await using db = openSqlite(join(folder, 'server.db'), { synchronous: 'full' });
      measurements.push(...(await atEachDepth('SQLite', db)));
    }
    await rm(folder, { recursive: true, force: true });
    if (TEST_POSTGRES_URI === undefined) return measurements;
    await using schema = await postgresSchema(TEST_POSTGRES_URI);
    await using db = openPostgres(schema.url);
    return [...measurements, ...(await atEachDepth('PostgreSQL', db))];
  },
};

async function atEachDepth(engine: string, db: Db): Promise<Measurement[]> {
  await migrate(db);
  const measurements: Measurement[] = [];
  let depth = 0;
  for (const wanted of DEPTHS) {
    await addWaiting(db, wanted - depth);
    depth = wanted;
    measurements.push(...(await verbs(`${engine}, ${depth.toLocaleString('en')}:`, db)));
  }
  return measurements;
}

/** Runs that wait: half due and ready, a quarter behind heads, a quarter for later; with the rows of their runs. */
export async function addWaiting(db: Db, count: number): Promise<void> {
  const run = await queueStory(db).add(randomUUID());
  const uuid = db.dialect === 'postgres' ? raw('gen_random_uuid()') : raw(SQLITE_UUID);
  const state = raw(`case n % 4 when 0 then 'scheduled' when 1 then 'blocked' else 'ready' end`);
  const at = raw(
    db.dialect === 'postgres'
      ? `clock_timestamp() + (case n % 4 when 0 then 1 else -1 end) * (n + 3600) * interval '1 second'`
      : `strftime('%Y-%m-%dT%H:%M:%fZ', 'now', ((case n % 4 when 0 then 1 else -1 end) * (n + 3600)) || ' seconds')`,
  );
  await db.run(sql`
    with recursive numbers (n) as (select 1 union all select n + 1 from numbers where n < ${count})
    insert into run_queue (run_id, thread_id, state, not_before) select ${uuid}, ${uuid}, ${state}, ${at} from numbers`);
  await db.run(sql`
    insert into threads (thread_id, status, metadata, config, created_at, updated_at, state_updated_at)
    select thread_id, 'idle', '{}', '{}', not_before, not_before, not_before from run_queue where true
    on conflict do nothing`);
  await db.run(sql`
    insert into runs (run_id, thread_id, assistant_id, assistant_name, assistant_version, status, metadata, kwargs, multitask_strategy, attempt, created_at,
      updated_at)
    select q.run_id, q.thread_id, r.assistant_id, r.assistant_name, r.assistant_version, 'pending', '{}', r.kwargs, 'enqueue', 0, q.not_before, q.not_before
    from run_queue q cross join runs r where r.run_id = ${run} on conflict do nothing`);
  if (db.dialect === 'postgres') await db.run(raw('analyze run_queue'));
}

const SQLITE_UUID = `lower(hex(randomblob(4)) || '-' || hex(randomblob(2)) || '-4' || substr(hex(randomblob(2)), 2)
  || '-a' || substr(hex(randomblob(2)), 2) || '-' || hex(randomblob(6)))`;

async function verbs(where: string, db: Db): Promise<Measurement[]> {
  const { queue } = queueStory(db);
  await queue.heartbeat(WORKER, 3_600_000);
  const release = { charge: false, delay_ms: 0, batch: { frames: [], writes: [], steps: [] } };
  const claim = async () => {
    const claimed = await queue.claim({ worker_id: WORKER.worker_id, token: randomUUID(), limit: 10 });
    return () => Promise.all(claimed.map(({ lease }) => queue.requeue(lease, release)));
  };
  const loop = monitorEventLoopDelay({ resolution: 1 });
  loop.enable();
  const measurements = [
    await timed(`${where} stats for /metrics`, () => queue.stats()),
    await timed(`${where} next due`, () => queue.nextDue()),
    await timed(`${where} claim of 10`, claim),
    await timed(`${where} enqueue`, () => queue.enqueue(request(newRun(randomUUID())))),
    await timed(`${where} promote due`, () => queue.promoteDue()),
    await timed(`${where} reap`, () => queue.reap(REAP)),
  ];
  loop.disable();
  return [
    ...measurements,
    { what: `${where} event loop, longest`, value: loop.max / 1e6, unit: 'ms', aim: 20 },
  ];
}

/** p50 of some; what they leave to do is done outside of the time. */
async function timed(what: string, action: () => Promise<unknown>): Promise<Measurement> {
  const times: number[] = [];
  for (let i = 0; i < TIMES; i++) {
    const begun = performance.now();
    const rest = await action();
    times.push(performance.now() - begun);
    if (typeof rest === 'function') await rest();
  }
  return { what, value: percentile(times, 0.5), unit: 'ms' };
}

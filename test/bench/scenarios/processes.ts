import { setTimeout as sleep } from 'node:timers/promises';
import { number } from '../../../src/db/columns.ts';
import { openPostgres } from '../../../src/db/engines/postgres.ts';
import { sql } from '../../../src/db/sql.ts';
import { withFaults } from '../../support/faults.ts';
import { POSTGRES_BINARIES, startPostgres } from '../../support/postgres-server.ts';
import { startRun } from '../../support/remote-runs.ts';
import { type BenchServer, benchServer, ECHO } from '../bench-server.ts';
import { measureLoad } from '../load.ts';
import { type Measurement, percentiles, type Scenario } from '../measurements.ts';

const SAMPLES = 100;
const IDLE_MS = 30_000;
/** PostgreSQL counts what a connection did when it has been idle for ten seconds, at the latest. */
const STATISTICS_MS = 15_000;
const RATES = [20, 50, 200];

/** One process answers requests, others execute: what does it cost that they are not the same? */
export const processes: Scenario = {
  title: 'PostgreSQL: requests to one process, runs in another',
  async run() {
    if (!POSTGRES_BINARIES) throw new Error('no PostgreSQL is installed (initdb, pg_ctl)');
    await using database = await startPostgres();
    const start = (concurrency: number) => benchServer({ concurrency, database: database.url });
    await using api = await start(0);
    await using _worker = await start(64);
    for (let index = 0; index < 20; index += 1) await api.http.call('POST', '/runs/wait', ECHO);
    return [
      ...(await idle(database.url)),
      ...(await started(api)),
      ...(await events(api, true)),
      ...(await events(api, false)),
      ...(await cancelled(api)),
      ...(await waits(api, 1)),
      ...(await waits(api, 16)),
      ...(await unnotified(database.url)),
    ];
  },
};

const clock = (count: number, pause_ms: number) => ({ assistant_id: 'clock', input: { count, pause_ms } });
const now = () => performance.timeOrigin + performance.now();

async function idle(url: string): Promise<Measurement[]> {
  await using db = openPostgres(url, { max_connections: 1 });
  const commits = async () => {
    const row = await db.get(sql`
      select xact_commit + xact_rollback as ${number('n')} from pg_stat_database where datname = current_database()`);
    return row?.n ?? 0;
  };
  await sleep(STATISTICS_MS);
  const before = await commits();
  await sleep(IDLE_MS);
  const value = ((await commits()) - before) / (IDLE_MS / 1000);
  return [{ what: 'idle: transactions a second, of all on the server', value, unit: '' }];
}

async function started(api: BenchServer): Promise<Measurement[]> {
  const measurements: Measurement[] = [];
  for (const rate of RATES) {
    const latencies: number[] = [];
    const began = now();
    const open: Promise<void>[] = [];
    for (let index = 0; index < rate * 4; index += 1) {
      await sleep(Math.max(0, began + (index * 1000) / rate - now()));
      open.push(startLatency(api).then((ms) => void latencies.push(ms)));
    }
    await Promise.all(open);
    measurements.push(...percentiles(`${rate} runs/s: sent to started`, latencies));
  }
  return measurements;
}

async function startLatency({ http }: BenchServer): Promise<number> {
  const sent = now();
  const body = { ...clock(1, 0), stream_mode: 'custom' };
  for await (const at of times(http, body)) return at - sent;
  throw new Error('the run did not start');
}

async function* times(http: BenchServer['http'], body: object): AsyncGenerator<number> {
  const { events: stream } = await http.stream('POST', '/runs/stream', { body });
  let last = 0;
  for await (const { event, data } of stream) {
    if (event !== 'custom') continue;
    last = (JSON.parse(data) as { at: number }).at;
    yield last;
  }
}

/** The same while every notification is lost: only polls of the queue and the log tell one process of the other. */
async function unnotified(database: string): Promise<Measurement[]> {
  const env = withFaults('notifications are lost');
  await using api = await benchServer({ concurrency: 0, database, env });
  await using _worker = await benchServer({ concurrency: 64, database, env });
  const starts: number[] = [];
  for (let index = 0; index < 10; index += 1) starts.push(await startLatency(api));
  const named = (all: Measurement[]) => all.map((each) => ({ ...each, what: `unnotified: ${each.what}` }));
  return named([
    ...percentiles('sent to started', starts, 1500),
    ...(await events(api, true)),
    ...(await cancelled(api)),
  ]);
}

async function events({ http }: BenchServer, stream_resumable: boolean): Promise<Measurement[]> {
  const latencies: number[] = [];
  const body = { ...clock(SAMPLES, 20), stream_mode: 'custom', stream_resumable };
  for await (const at of times(http, body)) latencies.push(now() - at);
  return percentiles(`event to reader, ${stream_resumable ? '' : 'not '}resumable`, latencies);
}

async function cancelled({ http }: BenchServer): Promise<Measurement[]> {
  const latencies: number[] = [];
  for (let index = 0; index < SAMPLES / 4; index += 1) {
    const { thread_id, run_id } = await startRun(http, clock(1, 60_000));
    const path = `/threads/${thread_id}/runs/${run_id}`;
    while ((await http.call<{ status: string }>('GET', path)).status !== 'running') await sleep(20);
    await sleep(50);
    const sent = now();
    await http.call('POST', `${path}/cancel?wait=1`);
    latencies.push(now() - sent);
  }
  return percentiles('cancel to its end', latencies);
}

async function waits({ http }: BenchServer, concurrency: number): Promise<Measurement[]> {
  const count = SAMPLES * concurrency;
  const request = () => http.call('POST', '/runs/wait', ECHO);
  const { latencies_ms, wall_ms } = await measureLoad({ concurrency, count, request });
  return [
    ...percentiles(`/runs/wait, ${concurrency} at once:`, latencies_ms),
    { what: `/runs/wait, ${concurrency} at once: rate`, value: (count / wall_ms) * 1000, unit: 'runs/s' },
  ];
}

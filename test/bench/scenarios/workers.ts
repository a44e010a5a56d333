import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { rowOf } from '../../soak/cluster.ts';
import { POSTGRES_BINARIES, startPostgres } from '../../support/postgres-server.ts';
import { startRun } from '../../support/remote-runs.ts';
import { type BenchServer, benchServer, ECHO } from '../bench-server.ts';
import { type Measurement, percentiles, type Scenario } from '../measurements.ts';

const WORKERS = [1, 2, 4];
/** Runs in the queue before any worker starts. */
const RUNS = 4000;
/** Runs in one request. */
const BATCH = 500;
const READERS = 400;
/** Runs that are followed, each by an equal part of the readers. */
const FOLLOWED = 20;
const EVENTS = 100;
/** The readers are sent 6,700 events a second. */
const PAUSE_MS = 60;

/** Processes that answer requests and processes that execute runs, on one PostgreSQL: what do many of them carry? */
export const workers: Scenario = {
  title: 'PostgreSQL: one, two and four workers; 400 readers on two other processes',
  async run() {
    if (!POSTGRES_BINARIES) throw new Error('no PostgreSQL is installed (initdb, pg_ctl)');
    const measurements: Measurement[] = [];
    for (const count of WORKERS) measurements.push(...(await throughput(count)));
    return [...measurements, ...(await readers())];
  },
};

interface Cluster extends AsyncDisposable {
  readonly apis: readonly BenchServer[];
  readonly statistics: pg.Client;
  startWorkers(count: number): Promise<BenchServer[]>;
}

async function startCluster(apis: number): Promise<Cluster> {
  await using opened = new AsyncDisposableStack();
  const database = opened.use(await startPostgres({ shared_preload_libraries: 'pg_stat_statements' }));
  const statistics = new pg.Client({ connectionString: database.url, application_name: 'bench' });
  await statistics.connect();
  opened.defer(() => statistics.end());
  await statistics.query('create extension pg_stat_statements');
  const start = (AGENT_SERVER_ROLE: string) =>
    benchServer({ concurrency: 20, database: database.url, env: { AGENT_SERVER_ROLE } });
  const servers: BenchServer[] = [];
  for (let index = 0; index < apis; index += 1) servers.push(opened.use(await start('api')));
  const all = opened.move();
  const startWorkers = (count: number) =>
    Promise.all(Array.from({ length: count }, async () => all.use(await start('worker'))));
  return { apis: servers, statistics, startWorkers, [Symbol.asyncDispose]: () => all.disposeAsync() };
}

/** A queue that is full before the workers start, measured from when all of them have started until it is empty. */
async function throughput(count: number): Promise<Measurement[]> {
  await using cluster = await startCluster(1);
  const { http } = cluster.apis[0] as BenchServer;
  for (let sent = 0; sent < RUNS; sent += BATCH) {
    await http.call('POST', '/runs/batch', Array(BATCH).fill(ECHO));
  }
  const waiting = async () => (await rowOf(cluster.statistics, WAITING))['waiting'] ?? Number.NaN;
  const workers = await cluster.startWorkers(count);
  const cpu = cpuOf(workers);
  await cluster.statistics.query('select pg_stat_statements_reset()');
  const runs = await waiting();
  const began = now();
  while ((await waiting()) > 0) await sleep(20);
  const seconds = (now() - began) / 1000;
  const used = cpuOf(workers) - cpu;
  const { calls = Number.NaN, ms = Number.NaN } = await rowOf(cluster.statistics, STATEMENTS);
  const name = `${count} ${count === 1 ? 'worker' : 'workers'}`;
  return [
    { what: `${name}: trivial runs of a queue`, value: runs / seconds, unit: 'runs/s' },
    { what: `${name}: CPU of all workers for a run`, value: (used * 1000) / runs, unit: 'ms' },
    { what: `${name}: statements for a run`, value: calls / runs, unit: '' },
    { what: `${name}: time of the database for a run`, value: ms / runs, unit: 'ms' },
  ];
}

const WAITING = 'select count(*) as waiting from run_queue';
const STATEMENTS = 'select sum(calls) as calls, sum(total_exec_time) as ms from pg_stat_statements';
const LOG_READS = `select sum(calls) as reads from pg_stat_statements
  where query like 'select%' and query like '%from run_events%'`;

/** Seconds since their start. */
const cpuOf = (servers: readonly BenchServer[]) => servers.reduce((sum, server) => sum + server.cpu(), 0);
const now = () => performance.timeOrigin + performance.now();

/** Many readers on two processes, of runs that others execute; no reader misses an event. */
async function readers(): Promise<Measurement[]> {
  await using cluster = await startCluster(2);
  const { apis, statistics } = cluster;
  await cluster.startWorkers(2);
  const input = { count: EVENTS, pause_ms: PAUSE_MS };
  const latencies: number[] = [];
  let first = Number.POSITIVE_INFINITY;
  let last = 0;
  const follow = async ({ http }: BenchServer, path: string) => {
    const { events } = await http.stream('GET', path, { headers: { 'last-event-id': '-1' } });
    let heard = 0;
    for await (const { event, data } of events) {
      if (event !== 'custom') continue;
      heard += 1;
      const { at } = JSON.parse(data);
      first = Math.min(first, at);
      last = now();
      latencies.push(last - at);
    }
    if (heard !== EVENTS) throw new Error(`a reader saw ${heard} of ${EVENTS} events`);
  };
  await statistics.query('select pg_stat_statements_reset()');
  const following: Promise<void>[] = [];
  for (let index = 0; index < FOLLOWED; index += 1) {
    const body = {
      assistant_id: 'clock',
      input,
      stream_mode: 'custom',
      stream_resumable: true,
      after_seconds: 5,
    };
    const { thread_id, run_id } = await startRun((apis[0] as BenchServer).http, body);
    const path = `/threads/${thread_id}/runs/${run_id}/stream`;
    for (let reader = 0; reader < READERS / FOLLOWED; reader += 1) {
      following.push(follow(apis[reader % 2] as BenchServer, path));
    }
  }
  const cpu = cpuOf(apis);
  await Promise.all(following);
  const used = cpuOf(apis) - cpu;
  const { reads = Number.NaN } = await rowOf(statistics, LOG_READS);
  return [
    {
      what: `${READERS} readers: events read`,
      value: latencies.length / ((last - first) / 1000),
      unit: 'events/s',
    },
    ...percentiles(`${READERS} readers: event to reader`, latencies),
    {
      what: `${READERS} readers: reads of the log for each event`,
      value: reads / (FOLLOWED * EVENTS),
      unit: '',
    },
    {
      what: `${READERS} readers: CPU of both processes for 1,000 events sent`,
      value: (used * 1e6) / latencies.length,
      unit: 'ms',
    },
  ];
}

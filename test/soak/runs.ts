import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { ECHO } from '../bench/bench-server.ts';
import { type Measurement, percentile } from '../bench/measurements.ts';
import { until } from '../support/until.ts';
import { rowOf, type SoakCluster, startSoakCluster } from './cluster.ts';

const SLICES = 5;
/** Runs in a request: one request for each would be most of the work. */
const BATCH = 50;
/** Runs that wait at most, so that the queue is never empty and never the measure of the machine. */
const WAITING = 500;
/** Of all runs that wait to have ended, when no more are added, ms. */
const PATIENCE_MS = 600_000;

const QUEUE = `select n_dead_tup as dead, pg_indexes_size('run_queue') / 1024.0 / 1024 as indexes,
  pg_relation_size('run_queue') / 1024.0 / 1024 as table_size from pg_stat_user_tables where relname = 'run_queue'`;
const CLAIMS = `select coalesce(sum(calls), 0) as calls, coalesce(sum(total_exec_time), 0) as ms
  from pg_stat_statements where query like 'with due as materialized (select seq from run_queue%'`;
const LONGEST = `select extract(epoch from clock_timestamp() - xact_start) * 1000 as ms, state, query
  from pg_stat_activity where application_name like 'agent-server%' and xact_start is not null
  order by xact_start limit 1`;
const CLAIMS_MS = 250;

/** Many short runs: does the queue keep its size and its speed? */
export async function runs(count: number): Promise<Measurement[]> {
  await using cluster = await startSoakCluster();
  const { statistics } = cluster;
  const measurements: Measurement[] = [];
  await using transactions = watchTransactions(statistics);
  for (let slice = 1; slice <= SLICES; slice += 1) {
    const started = performance.now();
    await using claims = watchClaims(statistics);
    await execute(cluster, count / SLICES);
    const seconds = (performance.now() - started) / 1000;
    const queue = await rowOf(statistics, QUEUE);
    const { mean, p95 } = claims.measurements();
    const add = (what: string, value: number | undefined, unit: Measurement['unit']) =>
      measurements.push({
        what: `after ${(slice * count) / SLICES} runs: ${what}`,
        value: value ?? Number.NaN,
        unit,
      });
    add('dead rows of the queue', queue['dead'], '');
    add('the queue', queue['table_size'], 'MB');
    add('its indexes', queue['indexes'], 'MB');
    add('claim, mean', mean, 'ms');
    add(`claim, p95 of the means of ${CLAIMS_MS} ms`, p95, 'ms');
    add('rate', count / SLICES / seconds, 'runs/s');
    console.log(
      measurements
        .slice(-6)
        .map(({ what, value }) => `${what}: ${value.toFixed(3)}`)
        .join('\n'),
    );
  }
  const { ms, what } = transactions.longest();
  return [...measurements, { what: `longest transaction (${what})`, value: ms, unit: 'ms', aim: 1000 }];
}

/** Adds the runs in batches, by turns at each process, as others end; resolves when all have ended. */
async function execute({ apis, statistics }: SoakCluster, count: number): Promise<void> {
  const waiting = async () => (await rowOf(statistics, 'select count(*) as n from run_queue'))['n'] ?? 0;
  for (let added = 0, index = 0; added < count; added += BATCH, index += 1) {
    const runs = Array.from({ length: Math.min(BATCH, count - added) }, () => ECHO);
    await (apis[index % 2] ?? apis[0]).http.call('POST', '/runs/batch', runs);
    await until('fewer runs wait', async () => (await waiting()) < WAITING, PATIENCE_MS);
  }
  await until('all runs have ended', async () => (await waiting()) === 0, PATIENCE_MS);
}

/** Until it is disposed. */
function sampling(every_ms: number, sample: () => Promise<void>): AsyncDisposable {
  const end = new AbortController();
  const sampled = (async () => {
    while (!end.signal.aborted) {
      await sample();
      await sleep(every_ms, undefined, { signal: end.signal }).catch(() => {});
    }
  })();
  return {
    async [Symbol.asyncDispose]() {
      end.abort();
      await sampled;
    },
  };
}

/** Statistics know sums only: differences between two looks are those of the few claims in between. */
function watchClaims(statistics: pg.Pool) {
  const means: number[] = [];
  let [first, last] = [undefined as Record<string, number> | undefined, { calls: 0, ms: 0 }];
  const watch = sampling(CLAIMS_MS, async () => {
    const { calls = 0, ms = 0 } = await rowOf(statistics, CLAIMS);
    if (first && calls > last.calls) means.push((ms - last.ms) / (calls - last.calls));
    first ??= { calls, ms };
    last = { calls, ms };
  });
  return {
    measurements: () => {
      const { calls = 0, ms = 0 } = first ?? {};
      return { mean: (last.ms - ms) / (last.calls - calls), p95: percentile(means, 0.95) };
    },
    [Symbol.asyncDispose]: () => watch[Symbol.asyncDispose](),
  };
}

/** Looks ten times a second how long the open transactions of the servers have lasted, and what they do. */
function watchTransactions(statistics: pg.Pool) {
  let longest = { ms: 0, what: 'none' };
  const watch = sampling(100, async () => {
    const { rows } = await statistics.query(LONGEST);
    const { ms = 0, state = '', query = '' } = rows[0] ?? {};
    if (Number(ms) > longest.ms)
      longest = { ms: Number(ms), what: `${state}: ${String(query).replace(/\s+/g, ' ').slice(0, 80)}` };
  });
  return { longest: () => longest, [Symbol.asyncDispose]: () => watch[Symbol.asyncDispose]() };
}

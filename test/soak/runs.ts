import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { ECHO } from '../bench/bench-server.ts';
import { type Figure, percentile } from '../bench/figures.ts';
import { measureLoad } from '../bench/load.ts';
import { rowOf, startSoakCluster } from './cluster.ts';

const SLICES = 5;
const AT_ONCE = 16;

const QUEUE = `select n_dead_tup as dead, pg_indexes_size('run_queue') / 1024.0 / 1024 as indexes,
  pg_relation_size('run_queue') / 1024.0 / 1024 as table_size from pg_stat_user_tables where relname = 'run_queue'`;
const CLAIMS = `select sum(total_exec_time) / sum(calls) as mean, max(max_exec_time) as longest
  from pg_stat_statements where query like 'with due as materialized (select seq from run_queue%'`;
const LONGEST = `select coalesce(max(extract(epoch from clock_timestamp() - xact_start)), 0) * 1000 as longest
  from pg_stat_activity where application_name like 'agent-server%'`;

/** Many short runs: does the queue keep its size and its speed? */
export async function runs(count: number): Promise<Figure[]> {
  await using cluster = await startSoakCluster();
  const { apis, statistics } = cluster;
  const figures: Figure[] = [];
  await using transactions = watchTransactions(statistics);
  for (let slice = 1; slice <= SLICES; slice += 1) {
    await statistics.query('select pg_stat_statements_reset()');
    const request = (index: number) => (apis[index % 2] ?? apis[0]).http.call('POST', '/runs/wait', ECHO);
    const { latencies_ms } = await measureLoad({ concurrency: AT_ONCE, count: count / SLICES, request });
    const [queue, claims] = [await rowOf(statistics, QUEUE), await rowOf(statistics, CLAIMS)];
    const add = (what: string, value: number | undefined, unit: Figure['unit']) =>
      figures.push({
        what: `after ${(slice * count) / SLICES} runs: ${what}`,
        value: value ?? Number.NaN,
        unit,
      });
    add('dead rows of the queue', queue['dead'], '');
    add('the queue', queue['table_size'], 'MB');
    add('its indexes', queue['indexes'], 'MB');
    add('claim, mean', claims['mean'], 'ms');
    add('claim, longest', claims['longest'], 'ms');
    add('run, p95', percentile(latencies_ms, 0.95), 'ms');
  }
  const longest = transactions.longest();
  return [...figures, { what: 'longest transaction', value: longest, unit: 'ms', aim: 1000 }];
}

/** Looks ten times a second how long the open transactions of the servers have lasted. */
function watchTransactions(statistics: pg.Client) {
  let longest = 0;
  const end = new AbortController();
  const watching = (async () => {
    while (!end.signal.aborted) {
      longest = Math.max(longest, (await rowOf(statistics, LONGEST))['longest'] ?? 0);
      await sleep(100, undefined, { signal: end.signal }).catch(() => {});
    }
  })();
  return {
    longest: () => longest,
    async [Symbol.asyncDispose]() {
      end.abort();
      await watching;
    },
  };
}

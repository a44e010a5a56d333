import { setTimeout as sleep } from 'node:timers/promises';
import { type Measurement, percentiles } from '../bench/measurements.ts';
import { httpClient } from '../support/http-client.ts';
import { startRun } from '../support/remote-runs.ts';
import { rowOf, startSoakCluster } from './cluster.ts';

const EVENTS = 50;
const PAUSE_MS = 200;
/** Followers that connect at a time. */
const AT_ONCE = 50;

const ROWS_READ = `select idx_tup_fetch + seq_tup_read as rows from pg_stat_user_tables where relname = 'run_events'`;
const now = () => performance.timeOrigin + performance.now();

/** One run, followed by many clients on two processes, neither of which executes it. */
export async function followers(count: number): Promise<Measurement[]> {
  await using cluster = await startSoakCluster();
  const { apis, statistics } = cluster;
  const clients = apis.map(({ process }) => httpClient(process.url, { connections: count }));
  const run = await startRun(apis[0].http, {
    assistant_id: 'clock',
    input: { count: EVENTS, pause_ms: PAUSE_MS },
    stream_mode: 'custom',
    stream_resumable: true,
    after_seconds: 5 + count / 100,
  });
  const latencies: number[] = [];
  let incomplete = 0;
  const follow = async (index: number): Promise<void> => {
    const client = clients[index % 2] as (typeof clients)[number];
    const at = `/threads/${run.thread_id}/runs/${run.run_id}/stream`;
    const { events } = await client.stream('GET', at, { headers: { 'last-event-id': '-1' } });
    let heard = 0;
    for await (const { event, data } of events) {
      if (event !== 'custom') continue;
      heard += 1;
      latencies.push(now() - JSON.parse(data).at);
    }
    if (heard !== EVENTS) incomplete += 1;
  };
  const following: Promise<void>[] = [];
  for (let index = 0; index < count; index += 1) {
    following.push(follow(index));
    if (index % AT_ONCE === AT_ONCE - 1) await sleep(100);
  }
  const [before, cpu] = [await rowOf(statistics, ROWS_READ), apis.map((api) => api.cpu())];
  await Promise.all(following);
  // Statistics of a connection are counted when it has been idle for a second.
  await sleep(2000);
  const rows = (await rowOf(statistics, ROWS_READ))['rows'] as number;
  const used = apis.map((api, index) => api.cpu() - (cpu[index] as number));
  for (const client of clients) client[Symbol.dispose]();
  return [
    { what: 'followers that missed an event', value: incomplete, unit: '', aim: 0 },
    ...percentiles('event to follower', latencies),
    { what: 'rows of the log read for each event', value: (rows - (before['rows'] ?? 0)) / EVENTS, unit: '' },
    ...used.map((seconds, index): Measurement => {
      const sent = (EVENTS * count) / 2;
      return {
        what: `CPU of api ${index + 1} for 1,000 events sent`,
        value: (seconds * 1e6) / sent,
        unit: 'ms',
      };
    }),
  ];
}

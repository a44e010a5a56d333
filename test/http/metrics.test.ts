import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openSqlite } from '../../src/db/engines/sqlite.ts';
import { migrate } from '../../src/db/migrate.ts';
import { openApp } from '../support/app.ts';
import { makeDataFolder } from '../support/data-folder.ts';
import { samplesOf, sampleValue } from '../support/metric-samples.ts';
import { queueStory } from '../support/queued-runs.ts';
import { until } from '../support/until.ts';

const INTERNAL = { EXPOSE_INTERNAL_METRICS_PROMETHEUS: 'true' };
let server: Awaited<ReturnType<typeof openApp>>;
beforeAll(async () => {
  server = await openApp({
    graphs: ['echo', 'fails', 'sleeper', 'ten-steps', 'chat'],
    environment: INTERNAL,
  });
});
afterAll(() => server[Symbol.asyncDispose]());

const scrape = async (from = server) => (await from.get('/metrics')).text;
const counted = async (name: string) => sampleValue(await scrape(), `lg_api_${name}`) ?? 0;

/** By how much each metric grows meanwhile. */
async function growth(names: readonly string[], action: () => Promise<unknown>): Promise<number[]> {
  const before = await Promise.all(names.map(counted));
  await action();
  const after = await Promise.all(names.map(counted));
  return after.map((value, index) => value - (before[index] as number));
}

test('a successful run is counted at its start and its end, with its wait and its duration', async () => {
  const names = ['run_attempt_started_counter', 'run_success_counter_total'];
  const histograms = ['run_queue_wait_time_1st_attempt', 'run_execution_latency', 'stream_publish_latency'];
  const [started, succeeded, ...observed] = await growth(
    [...names, ...histograms.map((name) => `${name}_count`)],
    () => server.post('/runs/wait', { assistant_id: 'echo', input: { messages: [] } }),
  );
  expect([started, succeeded, observed.slice(0, 2)]).toEqual([1, 1, [1, 1]]);
  expect(observed[2]).toBeGreaterThan(0);
  expect(sampleValue(await scrape(), 'agent_server_log_lag_seconds_count')).toBeGreaterThan(0);
});

test('metrics count runs that fail or reach their recursion limit', async () => {
  const names = ['run_failed_after_retry_counter', 'graph_recursion_limit_error_counter'];
  expect(await growth(names, () => server.post('/runs/wait', { assistant_id: 'fails', input: {} }))).toEqual([
    1, 0,
  ]);
  const endless = { assistant_id: 'ten-steps', input: { n: 0 }, config: { recursion_limit: 2 } };
  expect(await growth(names, () => server.post('/runs/wait', endless))).toEqual([1, 1]);
});

test('metrics count cancels of executing and of waiting runs', async () => {
  const path = `/threads/${await server.thread()}/runs`;
  const sleeping = { assistant_id: 'sleeper', input: { ms: 60_000 }, multitask_strategy: 'enqueue' };
  const [executing, waiting] = [await server.post(path, sleeping), await server.post(path, sleeping)];
  const isRunning = async () =>
    (await server.get(`${path}/${executing.body.run_id}`)).body.status === 'running';
  await until('it executes', isRunning);
  const cancel = (run_id: string) => server.post(`${path}/${run_id}/cancel?wait=true`);

  expect(await growth(['run_canceled_by_request_counter'], () => cancel(waiting.body.run_id))).toEqual([1]);
  expect(await growth(['run_canceled_by_request_counter'], () => cancel(executing.body.run_id))).toEqual([1]);
});

test('metrics count sent events of event streaming, including replayed ones', async () => {
  const { url } = await server.app.listen();
  const socket = new WebSocket(`${url.replace('http', 'ws')}/threads/${randomUUID()}/stream/events`);
  await once(socket, 'open');
  const send = (id: number, method: string, params: object) =>
    socket.send(JSON.stringify({ id, method, params }));
  let text = '';
  socket.addEventListener('message', ({ data }) => (text += data));
  const emitted = await growth(
    [
      'protocol_v2_event_emitted_counter',
      'protocol_v2_replayed_events_count',
      'protocol_v2_replayed_events_sum',
    ],
    async () => {
      send(1, 'run.start', { assistant_id: 'chat', input: { messages: ['hi'] } });
      send(2, 'subscription.subscribe', { channels: ['lifecycle'] });
      await until('the run has ended', () => text.includes('"completed"'));
      send(3, 'subscription.subscribe', { channels: ['lifecycle'], since: 0 });
      await until('the past is sent', () => text.includes('"id":3'));
    },
  );
  socket.close();
  const [sent, subscriptions, replayed] = emitted as [number, number, number];
  expect(sent).toBeGreaterThanOrEqual(4);
  expect(subscriptions).toBe(2);
  expect(replayed).toBeGreaterThanOrEqual(2);
});

test('a run that lost its worker too often is counted by the process that finds it', async () => {
  const folder = await makeDataFolder();
  const file = join(folder, 'lost.db');
  {
    await using db = openSqlite(file, { synchronous: 'normal' });
    await migrate(db);
    const story = queueStory(db);
    await story.add(randomUUID());
    expect(await story.claimed()).toHaveLength(1);
  }
  await using restarted = await openApp({
    graphs: ['echo'],
    environment: { ...INTERNAL, DATABASE_URI: `sqlite:${file}` },
    runs: { max_attempts: 1 },
  });
  const exceeded = async () =>
    sampleValue(await scrape(restarted), 'lg_api_run_exceed_max_attempts_at_start_counter');
  await until('the lost run is found', async () => (await exceeded()) === 1);
});

test('internal metrics are exported only on request, and names have the official prefix', async () => {
  await using plain = await openApp({ graphs: ['echo'], environment: { METRIC_PREFIX: 'acme:' } });
  const names = new Set(samplesOf(await scrape(plain)).map(({ name }) => name));
  expect([...names].filter((name) => /_counter(_total)?$/.test(name))).toEqual([]);
  expect(names).toContain('acme:num_pending_runs');
  expect(names).toContain('acme:workers_max');
  expect(names).toContain('agent_server_claim_loop_age_seconds');
  expect(names).not.toContain('lg_api_num_pending_runs');
});

test('metrics cover background loops, storage and the outbox', async () => {
  const text = await scrape();
  expect(sampleValue(text, 'agent_server_storage_bytes')).toBeGreaterThan(100_000);
  expect(sampleValue(text, 'agent_server_claim_loop_age_seconds')).toBeLessThan(30);
  expect(sampleValue(text, 'agent_server_lease_renewals_late_total')).toBe(0);
  expect(sampleValue(text, 'agent_server_outbox_age_seconds')).toBe(0);
  expect(sampleValue(text, 'agent_server_event_loop_lag_max_seconds')).toBeGreaterThanOrEqual(0);
});

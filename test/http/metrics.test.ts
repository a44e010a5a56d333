import { afterAll, beforeAll, expect, test } from 'vitest';
import { openApp } from '../support/app.ts';
import { samplesOf, sampleValue } from '../support/metric-samples.ts';

let server: Awaited<ReturnType<typeof openApp>>;
beforeAll(async () => {
  server = await openApp({ graphs: ['echo'] });
});
afterAll(() => server[Symbol.asyncDispose]());

const scrape = async (from = server) => (await from.get('/metrics')).text;
test('a successful run is measured: its wait for a worker, and the lag of its log', async () => {
  const waits = async () => sampleValue(await scrape(), 'lg_api_run_queue_wait_time_1st_attempt_count') ?? 0;
  const before = await waits();
  await server.post('/runs/wait', { assistant_id: 'echo', input: { messages: [] } });
  expect(await waits()).toBe(before + 1);
  expect(sampleValue(await scrape(), 'agent_server_log_lag_seconds_count')).toBeGreaterThan(0);
});

test('metrics of the official server have the configured prefix, and no others do', async () => {
  await using plain = await openApp({ graphs: ['echo'], environment: { METRIC_PREFIX: 'acme:' } });
  const names = new Set(samplesOf(await scrape(plain)).map(({ name }) => name));
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

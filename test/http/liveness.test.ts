import { expect, test } from 'vitest';
import { openApp } from '../support/app.ts';
import { sampleValue } from '../support/metric-samples.ts';
import { until } from '../support/until.ts';

/** To what reads it, all loops have been still for a minute. */
const MINUTE_AHEAD = { now: () => Date.now(), monotonic: () => performance.now() + 60_000 };

test('a stopping server stays alive while it finishes its runs', async () => {
  await using server = await openApp({ graphs: ['sleeper'], clock: MINUTE_AHEAD });
  const age = async () =>
    sampleValue((await server.get('/metrics')).text, 'agent_server_claim_loop_age_seconds');
  const thread_id = await server.thread();
  const payload = { assistant_id: 'sleeper', input: { ms: 600_000 } };
  const { run_id } = (await server.post(`/threads/${thread_id}/runs`, payload)).body;
  await using ends = new AsyncDisposableStack();
  const run = `/threads/${thread_id}/runs/${run_id}`;
  ends.defer(async () => void (await server.post(`${run}/cancel`)));
  await until('the run executes', async () => (await server.get(run)).body.status === 'running');
  expect((await server.get('/ok?live=1')).status).toBe(503);
  expect(await age()).toBeGreaterThan(30);

  void server.app.stop(600_000);
  await until('it claims no more', async () => (await server.get('/ok?live=1')).status === 200);
  expect(await age()).toBeUndefined();
  expect((await server.get('/ok')).status).toBe(503);
  expect((await server.get(run)).body.status).toBe('running');
});

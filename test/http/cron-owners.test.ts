import { resolve } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { openApp } from '../support/app.ts';
import { settableClock } from '../support/crons.ts';
import { until } from '../support/until.ts';

const ALICE = { authorization: 'Bearer alice-token' };
const BOB = { authorization: 'Bearer bob-token' };
const HOURLY = { assistant_id: 'echo', schedule: '0 * * * *', on_run_completed: 'keep' };

const clock = settableClock();
const folder = resolve(import.meta.dirname, '../fixtures/auth');
const http = await openApp({ graphs: ['echo'], folder, clock });
afterAll(() => http[Symbol.asyncDispose]());

test('runs of a cron belong to the user who created the cron', async () => {
  const { body: cron } = await http.post('/runs/crons', { ...HOURLY, input: {} }, ALICE);
  expect(cron).toMatchObject({ user_id: 'alice', metadata: { owner: 'alice' } });
  clock.pass(3_600_000);
  // Wakes the scheduler.
  await http.post('/runs/crons', HOURLY, BOB);

  const runs = async (who: Record<string, string>) => http.get(`/runs/crons/${cron.cron_id}/runs`, who);
  await until(
    'the run has ended',
    async () => !['pending', 'running'].includes((await runs(ALICE)).body[0]?.status ?? 'pending'),
  );
  const [fired] = (await runs(ALICE)).body;
  expect(fired).toMatchObject({ tick: '2026-06-01T13:00:00.000Z', status: 'success' });
  const path = `/threads/${fired.thread_id}`;
  expect((await http.get(path, ALICE)).body.metadata).toMatchObject({
    owner: 'alice',
    cron_id: cron.cron_id,
  });
  const { body: run } = await http.get(`${path}/runs/${fired.run_id}`, ALICE);
  expect(run.kwargs.config.configurable).toMatchObject({
    langgraph_auth_user_id: 'alice',
    langgraph_auth_user: { identity: 'alice', team: 'red' },
  });

  expect((await http.get(path, BOB)).status).toBe(404);
  expect((await runs(BOB)).status).toBe(404);
  expect((await http.post(`/runs/crons/${cron.cron_id}/trigger`, undefined, BOB)).status).toBe(404);
  expect((await http.post(`/threads/${fired.thread_id}/runs/crons`, HOURLY, BOB)).status).toBe(404);
});

import { afterAll, expect, test } from 'vitest';
import { openApp } from '../support/app.ts';

const http = await openApp({
  graphs: ['echo', 'sleeper'],
  environment: { N_JOBS_PER_WORKER: '1' },
  one_process: 'one slot for runs',
});
afterAll(() => http[Symbol.asyncDispose]());

const ECHO = { assistant_id: 'echo', input: { x: 1 } };

async function runOf(payload: object) {
  const thread_id = await http.thread();
  const { body } = await http.post(`/threads/${thread_id}/runs`, { ...ECHO, ...payload });
  const at = `/threads/${thread_id}/runs/${body.run_id}`;
  return {
    at,
    explain: async () => (await http.get(`${at}/explain`)).body,
    join: () => http.get(`${at}/join`),
  };
}

test('a run of a higher priority starts before one that has waited longer', async () => {
  const blocking = await runOf({ assistant_id: 'sleeper', input: { ms: 60_000 } });
  await expect.poll(async () => (await blocking.explain()).status).toBe('running');
  const patient = await runOf({});
  const urgent = await runOf({ priority: 10 });
  expect((await patient.explain()).priority).toBe(0);
  expect((await urgent.explain()).priority).toBe(10);

  await http.post(`${blocking.at}/cancel?wait=1`);
  await Promise.all([patient.join(), urgent.join()]);
  const [first, second] = [await urgent.explain(), await patient.explain()];
  expect(Date.parse(first.started_at)).toBeLessThanOrEqual(Date.parse(second.started_at));
  expect(Date.parse(first.ended_at)).toBeLessThanOrEqual(Date.parse(second.started_at));
  expect(first.priority).toBeNull();
});

test('a run of a cron has the priority of the cron', async () => {
  const cron = await http.post('/runs/crons', {
    ...ECHO,
    schedule: '@yearly',
    priority: -7,
    on_run_completed: 'keep',
  });
  const blocking = await runOf({ assistant_id: 'sleeper', input: { ms: 60_000 } });
  await expect.poll(async () => (await blocking.explain()).status).toBe('running');
  const { body: run } = await http.post(`/runs/crons/${cron.body.cron_id}/trigger`);
  expect((await http.get(`/runs/${run.run_id}/explain`)).body.priority).toBe(-7);
  await http.post(`${blocking.at}/cancel?wait=1`);
});

test('a priority is a whole number from -100 to 100', async () => {
  for (const priority of [101, -101, 0.5, 'high'])
    expect((await http.post('/runs', { ...ECHO, priority })).status).toBe(422);
});

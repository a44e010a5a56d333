import { afterAll, expect, test } from 'vitest';
import { openApp } from '../support/app.ts';
import { naming } from '../support/naming.ts';

const http = await openApp({ graphs: ['echo', 'sleeper'] });
afterAll(() => http[Symbol.asyncDispose]());

const ECHO = { assistant_id: 'echo', input: { x: 1 } };
const SLEEP = { assistant_id: 'sleeper', input: { ms: 60_000 } };

test('a client may choose the id of a run, once', async () => {
  const run_id = crypto.randomUUID();
  const thread_id = await http.thread();
  const at = `/threads/${thread_id}/runs`;
  expect((await http.post(at, { ...ECHO, run_id })).body.run_id).toBe(run_id);
  for (const path of [at, `${at}/wait`, '/runs']) {
    expect(await http.post(path, { ...ECHO, run_id })).toMatchObject({
      status: 409,
      body: { detail: `Run ${run_id} already exists` },
    });
  }
  expect((await http.post(at, { ...ECHO, run_id: 'x' })).status).toBe(422);
  expect((await http.get(at)).body).toHaveLength(1);
});

test('the id of a run that was rolled back is not given to another', async () => {
  const run_id = crypto.randomUUID();
  const at = `/threads/${await http.thread()}/runs`;
  await http.post(at, { ...SLEEP, run_id });
  await http.post(`${at}/${run_id}/cancel?action=rollback&wait=1`);
  expect((await http.post(at, { ...ECHO, run_id })).status).toBe(409);
});

test('a batch with two runs of one id is refused', async () => {
  const run_id = crypto.randomUUID();
  const batch = await http.post('/runs/batch', [
    { ...ECHO, run_id },
    { ...ECHO, runId: run_id },
  ]);
  expect(batch.status).toBe(409);
  expect((await http.get(`/runs/${run_id}/explain`)).status).toBe(404);
});

test('a rejected run names the blocking run, and a created run has its location', async () => {
  const thread_id = await http.thread();
  const { body: run } = await http.post(`/threads/${thread_id}/runs`, SLEEP);
  const cancel = `/threads/${thread_id}/runs/${run.run_id}/cancel`;
  const { status, body } = await http.post(`/threads/${thread_id}/runs`, {
    ...ECHO,
    multitask_strategy: 'reject',
  });
  expect([status, body.detail]).toEqual([
    409,
    naming('already running', `run ${run.run_id}`, `POST ${cancel}`, `GET /runs/${run.run_id}/explain`),
  ]);

  const { body: waiting } = await http.post(`/threads/${thread_id}/runs`, ECHO);
  const explained = await http.get(`/threads/${thread_id}/runs/${waiting.run_id}/explain`);
  expect(explained.body).toMatchObject({ run_id: waiting.run_id, thread_id, behind: [run.run_id] });
  expect((await http.get(`/runs/${waiting.run_id}/explain`)).body).toEqual(explained.body);
  expect((await http.get(`/threads/${await http.thread()}/runs/${run.run_id}/explain`)).status).toBe(404);
  await http.post(`${cancel}?wait=1`);
});

import { afterAll, expect, test } from 'vitest';
import { openApp } from '../support/app.ts';
import { until } from '../support/until.ts';

const http = await openApp({ graphs: ['echo', 'sleeper'] });
afterAll(() => http[Symbol.asyncDispose]());

const ECHO = { assistant_id: 'echo', input: { x: 1 } };
const SLEEP = { assistant_id: 'sleeper', input: { ms: 60_000 } };

/** A run that sleeps on a thread of its own, and where it is. */
async function sleeping() {
  const thread_id = await http.thread();
  const { body } = await http.post(`/threads/${thread_id}/runs`, SLEEP);
  return { thread_id, run_id: body.run_id as string, at: `/threads/${thread_id}/runs/${body.run_id}` };
}

async function statusOf(at: string): Promise<string> {
  return (await http.get(at)).body.status;
}

test('a batch creates each run on its own thread', async () => {
  const { status, body } = await http.post('/runs/batch', [ECHO, { ...ECHO, on_completion: 'keep' }]);
  expect(status).toBe(200);
  expect(body).toMatchObject([{ status: 'pending' }, { status: 'pending' }]);
  expect(body[0].thread_id).not.toBe(body[1].thread_id);
  const { thread_id, run_id } = body[1];
  expect((await http.get(`/threads/${thread_id}/runs/${run_id}/join`)).body).toMatchObject({ x: 1 });
});

test('a batch accepts camel case, and prefers the spelling of the contract', async () => {
  const { body } = await http.post('/runs/batch', [
    { assistantId: 'sleeper', assistant_id: 'echo', afterSeconds: 600, multitaskStrategy: 'reject' },
  ]);
  expect(body).toMatchObject([
    { multitask_strategy: 'reject', metadata: { assistant_id: expect.any(String) } },
  ]);
  expect(body[0].kwargs.config.configurable).toMatchObject({ graph_id: 'echo', __after_seconds__: 600 });
  await http.post('/runs/cancel', { thread_id: body[0].thread_id, run_ids: [body[0].run_id] });
});

test('a batch with one invalid run creates no run', async () => {
  const count = async () => (await http.post('/threads/count', {})).body;
  const before = await count();
  const missing = await http.post('/runs/batch', [ECHO, { assistant_id: crypto.randomUUID() }]);
  expect(missing.status).toBe(404);
  expect(await http.post('/runs/batch', [ECHO, { assistant_id: 'nobody' }])).toMatchObject({ status: 422 });
  expect(await http.post('/runs/batch', [ECHO, {}])).toMatchObject({
    status: 422,
    body: { detail: '[1].assistant_id is required' },
  });
  expect(await http.post('/runs/batch', [ECHO, { ...ECHO, command: { resume: 1 } }])).toMatchObject({
    status: 400,
  });
  expect((await http.post('/runs/batch', [])).status).toBe(422);
  expect(await count()).toBe(before);
});

test('a bulk cancel by ids cancels only those runs of a thread', async () => {
  const [one, other] = [await sleeping(), await sleeping()];
  const cancelled = await http.post('/runs/cancel', {
    thread_id: one.thread_id,
    run_ids: [one.run_id, other.run_id],
  });
  expect([cancelled.status, cancelled.text]).toEqual([204, '']);
  expect([await statusOf(one.at), await statusOf(other.at)]).toEqual([
    'interrupted',
    expect.stringMatching(/ing$/),
  ]);
  const thread = async () => (await http.get(`/threads/${one.thread_id}`)).body;
  await until('the worker lets go', async () => (await thread()).status !== 'busy');
  expect((await thread()).error).toEqual({
    error: 'UserInterrupt',
    message: 'interrupt requested via POST /runs/cancel',
  });

  const again = await http.post('/runs/cancel', { thread_id: one.thread_id, run_ids: [one.run_id] });
  expect(again).toMatchObject({
    status: 404,
    body: { detail: expect.stringMatching(/^No matching runs to/) },
  });
  const nobody = await http.post('/runs/cancel', {
    thread_id: one.thread_id,
    run_ids: [crypto.randomUUID()],
  });
  expect(nobody.status).toBe(404);
  await http.post('/runs/cancel', { thread_id: other.thread_id, run_ids: [other.run_id] });
});

test('a bulk cancel by status cancels the runs of every thread', async () => {
  const [one, other] = [await sleeping(), await sleeping()];
  const { body: waiting } = await http.post(`/threads/${one.thread_id}/runs`, ECHO);
  const waitingAt = `/threads/${one.thread_id}/runs/${waiting.run_id}`;

  expect((await http.post('/runs/cancel', { status: 'pending' })).status).toBe(204);
  expect(await statusOf(waitingAt)).toBe('interrupted');
  expect((await http.post('/runs/cancel?action=rollback', { status: 'all' })).status).toBe(204);
  expect([(await http.get(one.at)).status, (await http.get(other.at)).status]).toEqual([404, 404]);
  expect((await http.post('/runs/cancel', { status: 'all' })).status).toBe(404);
});

test('a cancelled run that never started leaves no temporary thread', async () => {
  const later = { ...ECHO, after_seconds: 600 };
  const { body } = await http.post('/runs/batch', [later, { ...later, on_completion: 'keep' }]);
  expect((await http.post('/runs/cancel', { status: 'pending' })).status).toBe(204);
  const [gone, kept] = body.map(({ thread_id }: { thread_id: string }) => `/threads/${thread_id}`);
  expect([(await http.get(gone)).status, (await http.get(kept)).status]).toEqual([404, 200]);
});

test('a bulk cancel names either a status or runs', async () => {
  const thread_id = crypto.randomUUID();
  const wrong = [
    {},
    { thread_id },
    { run_ids: [] },
    { status: 'all', thread_id, run_ids: [] },
    { status: 'done' },
  ];
  for (const body of wrong) expect((await http.post('/runs/cancel', body)).status).toBe(422);
});

test('the reason of a cancel is returned on request', async () => {
  const { thread_id, run_id, at } = await sleeping();
  await http.post(`${at}/cancel?wait=1&reason=taken`);
  const { body: after } = await http.post(`/threads/${thread_id}/runs`, ECHO);
  await http.get(`/threads/${thread_id}/runs/${after.run_id}/join`);

  const { body } = await http.get(`/threads/${thread_id}/runs?select=run_id&select=cancel_reason`);
  const request = 'interrupt requested via POST /threads/{thread_id}/runs/{run_id}/cancel';
  expect(body).toEqual([
    { run_id: after.run_id, cancel_reason: null },
    { run_id, cancel_reason: `taken: ${request}` },
  ]);
  expect(Object.keys((await http.get(at)).body)).not.toContain('cancel_reason');
});

test.each([1e10, 2531220522787332])('a run with a delay of %d seconds is refused', async (after_seconds) => {
  const { status, body } = await http.post('/runs', { ...ECHO, after_seconds });
  expect([status, body.detail]).toEqual([422, expect.stringMatching(/^after_seconds: /)]);
});

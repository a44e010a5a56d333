import { afterAll, expect, test } from 'vitest';
import { systemAssistantId } from '../../src/core/ids.ts';
import { openApp } from '../support/app.ts';
import { naming } from '../support/naming.ts';

const http = await openApp({ graphs: ['echo', 'interrupting', 'fails', 'sleeper'] });
afterAll(() => http[Symbol.asyncDispose]());

const ECHO = { assistant_id: 'echo', input: { x: 1 } };

test('creating a background run returns at once, and the run can be joined', async () => {
  const thread_id = await http.thread();
  const created = await http.post(`/threads/${thread_id}/runs`, {
    ...ECHO,
    metadata: { a: 1 },
    unknown: 'field',
  });
  const { run_id } = created.body;
  expect(created.status).toBe(200);
  expect(created.headers['content-location']).toBe(`/threads/${thread_id}/runs/${run_id}`);
  expect(created.body).toEqual({
    run_id: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-7/),
    thread_id,
    assistant_id: systemAssistantId('echo'),
    metadata: expect.objectContaining({ a: 1, graph_id: 'echo', assistant_id: systemAssistantId('echo') }),
    status: 'pending',
    kwargs: expect.objectContaining({ input: { x: 1 }, stream_mode: ['values'], temporary: false }),
    multitask_strategy: 'enqueue',
    created_at: expect.any(String),
    updated_at: expect.any(String),
    langsmith_session_name: null,
  });
  const joined = await http.get(`/threads/${thread_id}/runs/${run_id}/join`);
  expect([joined.status, joined.body]).toEqual([200, { x: 1, log: ['a:1', 'b'] }]);
  expect(joined.headers).toMatchObject({
    location: `/threads/${thread_id}/runs/${run_id}/join`,
    'content-location': `/threads/${thread_id}/runs/${run_id}`,
  });
  expect((await http.get(`/threads/${thread_id}/runs/${run_id}`)).body.status).toBe('success');
});

test('a run gets the request id of its caller', async () => {
  const thread_id = await http.thread();
  const { body } = await http.post(`/threads/${thread_id}/runs`, ECHO, { 'x-request-id': 'mine-1' });
  expect(body.kwargs.config.configurable.langgraph_request_id).toBe('mine-1');
});

test('waiting for a run returns its values, its interrupts, or its error', async () => {
  const wait = async (assistant_id: string) =>
    (await http.post(`/threads/${await http.thread()}/runs/wait`, { assistant_id, input: { x: 1 } })).body;
  expect(await wait('echo')).toEqual({ x: 1, log: ['a:1', 'b'] });
  expect(await wait('interrupting')).toMatchObject({ __interrupt__: [{ value: { question: 'ok?' } }] });
  expect(await wait('fails')).toEqual({ __error__: { error: 'BoomError', message: 'boom 1' } });
});

test('an interrupted run is resumed with an answer', async () => {
  const thread_id = await http.thread();
  await http.post(`/threads/${thread_id}/runs/wait`, { assistant_id: 'interrupting', input: { x: 1 } });
  expect((await http.get(`/threads/${thread_id}`)).body.status).toBe('interrupted');
  const resumed = await http.post(`/threads/${thread_id}/runs/wait`, {
    assistant_id: 'interrupting',
    command: { resume: 'yes' },
  });
  expect(resumed.body).toEqual({ x: 1, log: ['a:1', 'b:"yes"'] });
});

test('runs are listed newest first, with only the requested fields', async () => {
  const thread_id = await http.thread();
  const ids: string[] = [];
  for (const x of [1, 2, 3]) {
    const { headers } = await http.post(`/threads/${thread_id}/runs/wait`, {
      assistant_id: 'echo',
      input: { x },
    });
    ids.unshift(String(headers['content-location']).split('/').at(-1) as string);
  }
  const list = async (query = '') => (await http.get(`/threads/${thread_id}/runs${query}`)).body;
  expect((await list()).map(({ run_id }: { run_id: string }) => run_id)).toEqual(ids);
  for (const select of [
    'select=run_id&select=status',
    'select=run_id,status',
    'select=%5B%22run_id%22,%22status%22%5D',
  ]) {
    expect(await list(`?limit=1&offset=1&${select}`)).toEqual([{ run_id: ids[1], status: 'success' }]);
  }
  expect(await list('?select=')).toEqual(await list());
  expect(await list('?status=success')).toHaveLength(3);
  expect(await list('?status=pending')).toEqual([]);
  expect(await list('?status=invented')).toEqual([]);
  expect(await list('?limit=x')).toEqual({
    detail: naming('limit', 1, 2_147_483_647),
  });
  expect((await list('?select=password')).detail).toMatch(/^select\[0\]: /);
});

test.each([
  ['checkpoint_id', (checkpoint_id: string) => ({ checkpoint_id })],
  ['checkpoint', (checkpoint_id: string) => ({ checkpoint: { checkpoint_id } })],
  ['config', (checkpoint_id: string) => ({ config: { configurable: { checkpoint_id } } })],
])('a run from an unknown checkpoint in %s is 404', async (_where, at) => {
  const thread_id = await http.thread();
  const unknown = '1f000000-0000-6000-8000-000000000000';
  const { status, body } = await http.post(`/threads/${thread_id}/runs`, { ...ECHO, ...at(unknown) });
  expect([status, body.detail]).toEqual([404, expect.stringContaining(unknown)]);
});

test('a missing run is 404, and so is one on another thread', async () => {
  const thread_id = await http.thread();
  const { body: run } = await http.post(`/threads/${await http.thread()}/runs`, ECHO);
  const at = `/threads/${thread_id}/runs/${run.run_id}`;
  expect([await http.get(at), await http.get(`${at}/join`), await http.get(`${at}/stream`)]).toMatchObject([
    { status: 404, body: { detail: 'Not Found' } },
    { status: 404 },
    { status: 404 },
  ]);
  expect(await http.delete(at)).toMatchObject({ status: 404, body: { detail: 'Run not found' } });
  expect(await http.post(`${at}/cancel`)).toMatchObject({
    status: 404,
    body: { detail: 'No runs found to cancel.' },
  });
  expect(await http.get(`/threads/${thread_id}/runs/nobody`)).toMatchObject({
    status: 422,
    body: { detail: 'Invalid run ID: must be a UUID' },
  });
});

test('a run on a missing thread or of a missing assistant is refused', async () => {
  const nobody = crypto.randomUUID();
  const thread_id = await http.thread();
  const create = async (thread: string, payload: object) => {
    const { status, body } = await http.post(`/threads/${thread}/runs`, payload);
    return [status, body.detail];
  };
  expect(await create(nobody, ECHO)).toEqual([404, 'Thread or assistant not found.']);
  expect(await create(thread_id, { assistant_id: nobody })).toEqual([404, 'Thread or assistant not found.']);
  expect(await create(thread_id, { assistant_id: 'nobody' })).toEqual([
    422,
    expect.stringMatching(
      /^Invalid assistant: 'nobody'\. Must be either:\n- A valid assistant UUID, or\n- One of .*echo/,
    ),
  ]);
  expect((await http.get(`/threads/${thread_id}/runs`)).body).toEqual([]);
  const made = await http.post(`/threads/${nobody}/runs/wait`, { ...ECHO, if_not_exists: 'create' });
  expect(made.body).toEqual({ x: 1, log: ['a:1', 'b'] });
});

test('a second run with multitask_strategy reject is refused, and the first can be cancelled', async () => {
  const thread_id = await http.thread();
  const { body: run } = await http.post(`/threads/${thread_id}/runs`, {
    assistant_id: 'sleeper',
    input: { ms: 60_000 },
  });
  const rejected = await http.post(`/threads/${thread_id}/runs`, { ...ECHO, multitask_strategy: 'reject' });
  expect([rejected.status, rejected.body.detail]).toEqual([
    409,
    expect.stringMatching(
      /^Thread is already running a task\. Wait for it to finish or choose a different multitask strategy\. /,
    ),
  ]);
  const stopped = await http.post(`/threads/${thread_id}/runs/${run.run_id}/cancel?wait=true`);
  expect([stopped.status, stopped.body]).toEqual([200, {}]);
  const again = await http.post(`/threads/${thread_id}/runs/${run.run_id}/cancel`);
  expect([again.status, again.body.detail]).toEqual([
    404,
    expect.stringMatching(/^No matching runs to cancel\./),
  ]);
});

test('a cancel that rolls back removes the run', async () => {
  const thread_id = await http.thread();
  const { body: run } = await http.post(`/threads/${thread_id}/runs`, {
    assistant_id: 'sleeper',
    input: { ms: 60_000 },
  });
  const cancelled = await http.post(`/threads/${thread_id}/runs/${run.run_id}/cancel?action=rollback`);
  expect([cancelled.status, cancelled.text]).toEqual([202, '']);
  expect((await http.get(`/threads/${thread_id}/runs/${run.run_id}`)).status).toBe(404);
});

test('a deleted run is 404', async () => {
  const thread_id = await http.thread();
  const { body: run } = await http.post(`/threads/${thread_id}/runs`, ECHO);
  expect((await http.delete(`/threads/${thread_id}/runs/${run.run_id}`)).status).toBe(204);
  expect((await http.get(`/threads/${thread_id}/runs/${run.run_id}`)).status).toBe(404);
});

test('a stateless run executes on a temporary thread, which is deleted afterwards', async () => {
  const { status, headers, body } = await http.post('/runs/wait', ECHO);
  expect([status, body]).toEqual([200, { x: 1, log: ['a:1', 'b'] }]);
  expect(headers['location']).toMatch(/^\/threads\/[0-9a-f-]{36}\/runs\/[0-9a-f-]{36}\/join$/);
  const thread = String(headers['location']).split('/runs/')[0] as string;
  expect((await http.get(thread)).status).toBe(404);
});

test('a stateless run can keep its thread', async () => {
  const { headers, body: run } = await http.post('/runs', { ...ECHO, on_completion: 'keep' });
  expect(headers['content-location']).toBe(`/runs/${run.run_id}`);
  expect((await http.get(`/threads/${run.thread_id}/runs/${run.run_id}/join`)).body).toEqual({
    x: 1,
    log: ['a:1', 'b'],
  });
  expect((await http.get(`/threads/${run.thread_id}`)).body).toMatchObject({ values: { x: 1 } });
});

test('a stateless run with a resume command is refused', async () => {
  const answer = await http.post('/runs/wait', { assistant_id: 'interrupting', command: { resume: 1 } });
  expect([answer.status, answer.body]).toEqual([
    400,
    { detail: 'You must provide a thread_id when resuming.' },
  ]);
});

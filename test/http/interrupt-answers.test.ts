import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import { openApp } from '../support/app.ts';

const folder = resolve(import.meta.dirname, '../fixtures/auth');
const ALICE = { authorization: 'Bearer alice-token' };

type Server = Awaited<ReturnType<typeof openApp>>;

const answersOf = async (server: Server, query: object = {}, headers?: Record<string, string>) =>
  (await server.post('/interrupts/answers/search', query, headers)).body;

test('answers are listed with the interrupt, the answer, the user, the time and the run', async () => {
  await using server = await openApp({ graphs: ['asks'], folder });
  const { thread_id } = (await server.post('/threads', {}, ALICE)).body;
  const wait = (body: object) =>
    server.post(`/threads/${thread_id}/runs/wait`, { assistant_id: 'asks', ...body }, ALICE);
  await wait({ input: { ask: { question: 'Really?' } } });
  const [{ interrupt_id, since }] = (await server.post('/interrupts/search', {}, ALICE)).body;
  await wait({ command: { resume: 'yes' } });
  const [run] = (await server.get(`/threads/${thread_id}/runs`, ALICE)).body;
  expect(await answersOf(server, {}, ALICE)).toEqual([
    {
      interrupt_id,
      thread_id,
      task_id: expect.any(String),
      run_id: run.run_id,
      assistant_id: run.assistant_id,
      since,
      created_at: run.created_at,
      user_id: 'alice',
      key_id: null,
      value: { question: 'Really?' },
      value_bytes: 22,
      answer: 'yes',
      answer_bytes: 5,
    },
  ]);
  const select = ['interrupt_id', 'answer'];
  expect(await answersOf(server, { select, interrupt_id }, ALICE)).toEqual([{ interrupt_id, answer: 'yes' }]);
  expect(await answersOf(server, { user_id: 'bob' }, ALICE)).toEqual([]);
});

test('answers are searched by thread, assistant and time, in pages, newest first', async () => {
  await using server = await openApp({ graphs: ['asks'] });
  const threads: string[] = [];
  for (const n of [1, 2, 3]) {
    const thread_id = await server.thread({ metadata: { n } });
    threads.push(thread_id);
    const wait = (body: object) =>
      server.post(`/threads/${thread_id}/runs/wait`, { assistant_id: 'asks', ...body });
    await wait({ input: { ask: n } });
    await wait({ command: { resume: n } });
  }
  const found = async (query: object) =>
    (await answersOf(server, query)).map(({ answer }: { answer: number }) => answer);
  expect(await found({})).toEqual([3, 2, 1]);
  expect(await found({ thread_id: threads[1] })).toEqual([2]);
  expect(await found({ thread_metadata: { n: 3 } })).toEqual([3]);
  expect(await found({ assistant_id: 'asks', sort_order: 'asc' })).toEqual([1, 2, 3]);
  const [{ created_at }] = await answersOf(server, { thread_id: threads[1] });
  expect(await found({ created_to: created_at })).toEqual([1]);
  const page = await server.post('/interrupts/answers/search', { limit: 2 });
  const cursor = page.headers['x-pagination-next'];
  expect(await found({ limit: 2, cursor })).toEqual([1]);
  const foreign = await server.post('/interrupts/search', { cursor });
  expect(foreign.status).toBe(422);
});

test('answers that name the newest checkpoint, as clients of LangGraph send them, are recorded', async () => {
  await using server = await openApp({ graphs: ['asks'] });
  const thread_id = await server.thread();
  const wait = (body: object) =>
    server.post(`/threads/${thread_id}/runs/wait`, { assistant_id: 'asks', ...body });
  await wait({ input: { ask: 1 } });
  const { checkpoint, parent_checkpoint } = (await server.get(`/threads/${thread_id}/state`)).body;
  await wait({ command: { resume: 'then' }, checkpoint: parent_checkpoint });
  expect(await answersOf(server)).toEqual([]);
  const thread = (await server.get(`/threads/${thread_id}`)).body;
  expect(thread.status).toBe('interrupted');
  const newest = (await server.get(`/threads/${thread_id}/state`)).body.checkpoint;
  expect(newest).not.toEqual(checkpoint);
  await wait({ command: { resume: 'now' }, checkpoint: newest });
  expect(await answersOf(server)).toMatchObject([{ value: 1, answer: 'now' }]);
});

import { afterAll, beforeAll, expect, test } from 'vitest';
import { A2A_FOLDER as folder, message, type Rpc, rpcTo } from '../../support/a2a.ts';
import type { Task } from '../../support/a2a-calls.ts';
import { openApp } from '../../support/app.ts';

let server: Awaited<ReturnType<typeof openApp>>;
let rpc: Rpc;
/** Of the context `mixed`, the oldest first: ended, waiting, given up; and one elsewhere. */
let tasks: Task[];

beforeAll(async () => {
  server = await openApp({ folder, graphs: ['mirror', 'chat'] });
  rpc = rpcTo(server, 'mirror');
  const send = async (said: object, contextId: string): Promise<Task> =>
    (await rpc('SendMessage', { message: message(said, { contextId }) })).result.task;
  tasks = [
    await send({ answer: 'one' }, 'mixed'),
    await send({ ask: 'Well?' }, 'elsewhere'),
    await send({ ask: 'Sure?' }, 'mixed'),
    await send({ ask: null, answer: 'two' }, 'mixed'),
  ];
});

afterAll(() => server[Symbol.asyncDispose]());

async function ids(params: object): Promise<(string | undefined)[]> {
  const { result } = await rpc('ListTasks', params);
  return result.tasks.map((task: Task) => tasks.findIndex(({ id }) => id === task.id));
}

test('A2A tasks are listed by newest state, in pages, with a total', async () => {
  const { result: whole } = await rpc('ListTasks', {});
  expect(whole).toMatchObject({ nextPageToken: '', pageSize: 50, totalSize: 4 });
  const times = whole.tasks.map(({ status }: Task) => status.timestamp);
  expect(times).toEqual([...times].sort().reverse());

  const seen: string[] = [];
  let pageToken = '';
  do {
    const { result } = await rpc('ListTasks', { pageSize: 3, pageToken });
    expect([result.pageSize, result.totalSize]).toEqual([3, 4]);
    seen.push(...result.tasks.map(({ id }: Task) => id));
    pageToken = result.nextPageToken;
  } while (pageToken !== '');
  expect(seen).toEqual(whole.tasks.map(({ id }: Task) => id));
});

/** What a client may make up. */
const tokenAt = (time: string) => Buffer.from(`${time} ${tasks[0]?.id}`).toString('base64url');

test('A2A tasks are found by context, state and time', async () => {
  expect((await ids({ contextId: 'mixed' })).sort()).toEqual([0, 2, 3]);
  expect(await ids({ contextId: tasks[1]?.contextId })).toEqual([1]);
  expect(await ids({ contextId: 'unknown' })).toEqual([]);
  expect((await ids({ status: 'TASK_STATE_COMPLETED' })).sort()).toEqual([0, 3]);
  expect(await ids({ status: 'TASK_STATE_INPUT_REQUIRED' })).toEqual([1]);
  expect(await ids({ status: 'TASK_STATE_CANCELED' })).toEqual([2]);
  expect(await ids({ status: 'TASK_STATE_WORKING' })).toEqual([]);
  const since = tasks[3]?.status.timestamp;
  expect(await ids({ statusTimestampAfter: since })).toContain(3);
  expect(await ids({ statusTimestampAfter: '2999-01-01T00:00:00Z' })).toEqual([]);
  expect((await ids({ statusTimestampAfter: '2020-01-01T00:00:00+02:00' })).length).toBe(4);
  // PostgreSQL has no year 0, and none of six digits.
  for (const long_ago of ['0000-01-01T00:00:00Z', '-000001-01-01T00:00:00Z'])
    expect((await ids({ statusTimestampAfter: long_ago })).length).toBe(4);
  expect(await ids({ statusTimestampAfter: '+275760-09-13T00:00:00Z' })).toEqual([]);
});

test('a task replaced by another message reports the reason', async () => {
  const { result } = await rpc('GetTask', { id: tasks[2]?.id });
  expect(result.status).toMatchObject({
    state: 'TASK_STATE_CANCELED',
    message: { parts: [{ text: 'The conversation continued without an answer.' }] },
  });
});

test('a list of A2A tasks includes artifacts and history as requested', async () => {
  const params = { contextId: 'elsewhere' };
  const [plain] = (await rpc('ListTasks', params)).result.tasks;
  expect(plain).not.toHaveProperty('artifacts');
  expect(plain.history).toHaveLength(1);
  const asked = { ...params, includeArtifacts: true, historyLength: 0 };
  const [whole] = (await rpc('ListTasks', asked)).result.tasks;
  expect(whole).not.toHaveProperty('history');
  expect(whole.artifacts).toMatchObject([{ name: 'Interrupt' }]);
});

test('an agent lists no tasks of another agent, and invalid page tokens are refused', async () => {
  expect((await rpcTo(server, 'chat')('ListTasks', {})).result).toMatchObject({ tasks: [], totalSize: 0 });
  for (const params of [
    { pageSize: 0 },
    { pageSize: 101 },
    { pageSize: 1.5 },
    { pageToken: 'x' },
    { pageToken: tokenAt('0000-01-01T00:00:00.000Z') },
    { pageToken: tokenAt('2026-02-30T00:00:00.000Z') },
    { status: 'DONE' },
    { statusTimestampAfter: 'yesterday' },
    { historyLength: -1 },
  ]) {
    const { error } = await rpc('ListTasks', params);
    expect([params, error?.code]).toEqual([params, -32602]);
  }
});

import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { A2A_FOLDER as folder, message, type Rpc, rpcTo } from '../../support/a2a.ts';
import { nextOf, type TaskEvent, taskEvents } from '../../support/a2a-events.ts';
import { openApp } from '../../support/app.ts';
import { type HttpClient, httpClient } from '../../support/http-client.ts';
import { type Project, project } from '../../support/project.ts';
import { until } from '../../support/until.ts';

let server: Awaited<ReturnType<typeof openApp>>;
let http: HttpClient;
let place: Project;
let rpc: Rpc;

beforeAll(async () => {
  server = await openApp({ folder, graphs: ['says', 'chat-question'] });
  http = httpClient((await server.app.listen()).url);
  place = await project({});
  rpc = rpcTo(server, 'says');
});

afterAll(async () => {
  http[Symbol.dispose]();
  await place[Symbol.asyncDispose]();
  await server[Symbol.asyncDispose]();
});

const AT_ONCE = { returnImmediately: true };

async function stateOf(id: string): Promise<string> {
  return (await rpc('GetTask', { id })).result.status.state;
}

/** A task that works until the file is there, and its events. */
async function working(file: string, of: { contextId?: string } = {}) {
  const shows = [{ status: 'Waiting' }];
  const said = message({ shows, waits_for: place.path(file), answer: `Seen: ${file}` }, of);
  const events = await taskEvents(http, 'says', {
    method: 'SendStreamingMessage',
    params: { message: said },
  });
  const [task] = await nextOf(events, 3);
  return { id: task?.value.id ?? '', events, release: () => place.write({ [file]: '' }) };
}

test('a message to a working task is handled after the current run, in the same task and its streams', async () => {
  const { id, events, release } = await working('first');
  const more = message({ shows: [], waits_for: '', answer: 'And more.' }, { taskId: id });
  const { result } = await rpc('SendMessage', { message: more, configuration: AT_ONCE });
  expect(result.task.id).toBe(id);
  await release();
  const rest = await Array.fromAsync(events);
  const ends = rest.flatMap(({ value: { status } }) => (status ? [status.state] : []));
  expect(ends.filter((state) => state !== 'TASK_STATE_WORKING')).toEqual(['TASK_STATE_COMPLETED']);
  const { result: task } = await rpc('GetTask', { id });
  const texts = task.artifacts.map(({ parts }: { parts: { text?: string }[] }) => parts[0]?.text);
  expect(texts.filter(Boolean)).toEqual(['Seen: first', 'And more.']);
});

/** A working task with a message that waits, and the events of both. */
async function workingWithFollowUp(file: string) {
  const { id, events, release } = await working(file);
  onTestFinished(release);
  const more = message({ shows: [], waits_for: '', answer: 'And more.' }, { taskId: id });
  const { result } = await rpc('SendMessage', { message: more, configuration: AT_ONCE });
  const params = { id };
  const followed = await taskEvents(http, 'says', { method: 'SubscribeToTask', params });
  await nextOf(followed, 1);
  const runs = `/threads/${result.task.contextId}/runs`;
  return { id, runs, streams: [events, followed], release };
}

async function lastStates(streams: AsyncGenerator<TaskEvent>[]): Promise<(string | undefined)[]> {
  const each = await Promise.all(streams.map((events) => Array.fromAsync(events)));
  return each.map((events) => events.at(-1)?.value.status.state);
}

test('cancelling a task cancels its current run and the message that waits for its end', async () => {
  const { id, runs, streams } = await workingWithFollowUp('cancelled');
  expect(await stateOf(id)).toBe('TASK_STATE_WORKING');
  expect((await rpc('CancelTask', { id })).result.status.state).toBe('TASK_STATE_CANCELED');
  const statuses = (await server.get(runs)).body.map(({ status }: { status: string }) => status);
  expect(statuses).toEqual(['interrupted', 'interrupted']);
  expect(await lastStates(streams)).toEqual(['TASK_STATE_CANCELED', 'TASK_STATE_CANCELED']);
});

test('a task whose waiting message alone is cancelled works until its current run has ended', async () => {
  const { id, runs, streams, release } = await workingWithFollowUp('finished');
  const [{ run_id }] = (await server.get(runs)).body;
  await server.post(`${runs}/${run_id}/cancel?wait=true`);
  expect(await stateOf(id)).toBe('TASK_STATE_WORKING');
  await release();
  expect(await lastStates(streams)).toEqual(['TASK_STATE_CANCELED', 'TASK_STATE_CANCELED']);
  const { artifacts } = (await rpc('GetTask', { id })).result;
  expect(artifacts[0].parts).toEqual([{ text: 'Seen: finished' }]);
});

test('a new message in a busy context becomes a task that waits for its turn', async () => {
  const { id, events, release } = await working('second', { contextId: 'busy' });
  const next = message({ shows: [], waits_for: '', answer: 'Later.' }, { contextId: 'busy' });
  const { result } = await rpc('SendMessage', { message: next, configuration: AT_ONCE });
  expect(result.task.id).not.toBe(id);
  expect(result.task.status.state).toBe('TASK_STATE_SUBMITTED');
  await release();
  await Array.fromAsync(events);
  await until('both are done', async () => (await stateOf(result.task.id)) === 'TASK_STATE_COMPLETED');
  expect(await stateOf(id)).toBe('TASK_STATE_COMPLETED');
});

test('a client that disconnects cancels no A2A task', async () => {
  const { id, events, release } = await working('third');
  await events.return(undefined);
  expect(await stateOf(id)).toBe('TASK_STATE_WORKING');
  await release();
  await until('it is done', async () => (await stateOf(id)) === 'TASK_STATE_COMPLETED');
});

test('a subscriber of a waiting task is notified of the answer and of a cancellation', async () => {
  const asking = rpcTo(server, 'chat-question');
  for (const [follow, states] of [
    [(id: string) => ['SendMessage', { message: message('Ada', { taskId: id }) }], ['WORKING', 'COMPLETED']],
    [(id: string) => ['CancelTask', { id }], ['CANCELED']],
  ] as const) {
    const { result } = await asking('SendMessage', { message: message('Hi') });
    const { id } = result.task;
    const params = { id };
    const events = await taskEvents(http, 'chat-question', { method: 'SubscribeToTask', params });
    const [first] = await nextOf(events, 1);
    expect(first?.value.status.state).toBe('TASK_STATE_INPUT_REQUIRED');
    const [method, sent] = follow(id) as [string, object];
    await asking(method, sent);
    const rest = (await Array.fromAsync(events)).flatMap(({ value: { status } }) => (status ? [status] : []));
    expect(rest.map(({ state }) => state)).toEqual(states.map((state) => `TASK_STATE_${state}`));
  }
});

test('a subscriber of a waiting task is notified when its thread continues outside A2A', async () => {
  const { result } = await rpcTo(server, 'chat-question')('SendMessage', { message: message('Hi') });
  const { id, contextId } = result.task;
  const params = { id };
  const events = await taskEvents(http, 'chat-question', { method: 'SubscribeToTask', params });
  await nextOf(events, 1);
  const run = { assistant_id: 'chat-question', command: { resume: 'Ada' } };
  await server.post(`/threads/${contextId}/runs/wait`, run);
  expect(await lastStates([events])).toEqual(['TASK_STATE_CANCELED']);
});

test('A2A contexts map to threads or names, tasks to runs, and mismatching ids are refused', async () => {
  const asking = rpcTo(server, 'chat-question');
  const { result } = await asking('SendMessage', { message: message('Hi') });
  const { id, contextId } = result.task;
  expect((await server.get(`/threads/${contextId}`)).body.status).toBe('interrupted');
  expect((await asking('GetTask', { id: `${contextId}:${id}` })).result.id).toBe(id);
  const named = await asking('SendMessage', { message: message('Hi', { contextId: 'Grüße an alle!' }) });
  expect(named.result.task.contextId).toBe('Grüße an alle!');

  const codeOf = async (of: object) =>
    (await asking('SendMessage', { message: message('Ada', of) })).error?.code;
  expect(await codeOf({ taskId: id, contextId: 'another' })).toBe(-32602);
  expect(await codeOf({ contextId: ' ' })).toBe(-32602);
  expect(await codeOf({ contextId: 'x'.repeat(256) })).toBe(-32602);
  expect(await codeOf({ contextId: 'x'.repeat(255) })).toBeUndefined();
  expect(await codeOf({ taskId: '01234567-89ab-7def-8123-456789abcdef' })).toBe(-32001);
  expect(await codeOf({ taskId: id, contextId })).toBeUndefined();
  expect(await codeOf({ taskId: id })).toBe(-32004);
  expect((await asking('CancelTask', { id })).error?.code).toBe(-32002);
  expect((await asking('SubscribeToTask', { id })).error?.code).toBe(-32004);
  await server.delete(`/threads/${contextId}`);
  expect((await asking('GetTask', { id })).error?.code).toBe(-32001);
});

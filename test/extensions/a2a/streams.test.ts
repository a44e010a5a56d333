import { afterAll, beforeAll, expect, test } from 'vitest';
import { A2A_FOLDER as folder, message } from '../../support/a2a.ts';
import { askingForTokens, nextOf, taskEvents, textOf, tokensOf } from '../../support/a2a-events.ts';
import { openApp } from '../../support/app.ts';
import { type HttpClient, httpClient } from '../../support/http-client.ts';
import { project } from '../../support/project.ts';

let server: Awaited<ReturnType<typeof openApp>>;
let http: HttpClient;

beforeAll(async () => {
  server = await openApp({ folder, graphs: ['tokens', 'sleeper', 'fails', 'says'] });
  http = httpClient((await server.app.listen()).url);
});

afterAll(async () => {
  http[Symbol.dispose]();
  await server[Symbol.asyncDispose]();
});

const COUNT = 40;
/** Long enough that others come while it speaks. */
const SLOWLY_MS = 40;
const TEXT = tokensOf(COUNT);

const stream = (graph: string, method: string, params: object, last_id?: string) =>
  taskEvents(http, graph, { method, params, last_id });

test('an A2A stream has the task, its status, each chunk once with the last one marked, and the final status', async () => {
  const events = await Array.fromAsync(
    await stream('tokens', 'SendStreamingMessage', askingForTokens(COUNT)),
  );
  expect(events.slice(0, 2).map(({ kind, value }) => [kind, value.status.state])).toEqual([
    ['task', 'TASK_STATE_SUBMITTED'],
    ['statusUpdate', 'TASK_STATE_WORKING'],
  ]);
  const { result } = JSON.parse(events[0]?.data ?? '');
  expect(result.task).not.toHaveProperty('artifacts');
  expect(result.task.history).toMatchObject([{ role: 'ROLE_USER', parts: [{ text: 'Go' }, { data: {} }] }]);
  expect(events.at(-1)).toMatchObject({ value: { status: { state: 'TASK_STATE_COMPLETED' } } });
  expect(textOf(events)).toBe(TEXT);
  const pieces = events.filter(({ value }) => value.artifact?.parts[0]?.text !== undefined);
  expect(pieces.map(({ value }) => value.append ?? false)).toEqual(pieces.map((_, i) => i > 0));
  expect(pieces.findIndex(({ value }) => value.lastChunk)).toBe(pieces.length - 1);
  expect(new Set(pieces.map(({ value }) => value.artifact.artifactId)).size).toBe(1);
  expect(new Set(events.map(({ id }) => id)).size).toBe(events.length);
});

test('an A2A event of a graph is sent before the graph continues', async () => {
  await using place = await project({});
  const shows = [{ artifact: { id: 'first', parts: [{ text: 'Here it is.' }] } }];
  const waits_for = place.path('seen');
  const said = message({ shows, waits_for, answer: 'Done.' });
  const events = await stream('says', 'SendStreamingMessage', { message: said });
  const [, , shown] = await nextOf(events, 3);
  expect(shown?.value).toMatchObject({ artifact: { artifactId: 'first', parts: [{ text: 'Here it is.' }] } });
  await place.write({ seen: '' });
  const rest = (await Array.fromAsync(events)).map(({ value }) => value);
  expect(rest.find(({ artifact }) => artifact?.artifactId === 'first')).toMatchObject({
    artifact: { parts: [{ text: '' }] },
    append: true,
    lastChunk: true,
  });
  expect(rest.at(-1)?.status.state).toBe('TASK_STATE_COMPLETED');
});

test('a subscriber gets the artifacts so far even if the task ends without another event', async () => {
  await using place = await project({});
  const shows = [{ artifact: { id: 'only', parts: [{ text: 'Here it is.' }] } }];
  const said = message({ shows, waits_for: place.path('subscribed') });
  const [task] = await nextOf(await stream('says', 'SendStreamingMessage', { message: said }), 3);
  const events = await stream('says', 'SubscribeToTask', { id: task?.value.id });
  await nextOf(events, 1);
  await place.write({ subscribed: '' });
  expect(textOf(await Array.fromAsync(events))).toBe('Here it is.');
});

test('an A2A client that reconnects resumes after the last event, without gaps or duplicates', async () => {
  const first = await stream('tokens', 'SendStreamingMessage', askingForTokens(COUNT, SLOWLY_MS));
  const read = await nextOf(first, 7);
  const [task] = read;
  await first.return(undefined);
  const whole = await Array.fromAsync(await stream('tokens', 'SubscribeToTask', { id: task?.value.id }));
  expect(whole[0]).toMatchObject({ kind: 'task', id: undefined });
  expect(textOf(whole)).toBe(TEXT);

  for (const { id } of read) {
    const params = { id: task?.value.id };
    const rest = await Array.fromAsync(await stream('tokens', 'SubscribeToTask', params, id));
    const seen = read.slice(0, read.findIndex((event) => event.id === id) + 1);
    expect(textOf([...seen, ...rest])).toBe(TEXT);
    expect(rest.at(-1)?.value.status.state).toBe('TASK_STATE_COMPLETED');
  }
});

test('all subscribers of a task get the same events in the same order, even if one leaves', async () => {
  const sent = await stream('tokens', 'SendStreamingMessage', askingForTokens(COUNT, SLOWLY_MS));
  const [task] = await nextOf(sent, 1);
  const follow = () => stream('tokens', 'SubscribeToTask', { id: task?.value.id });
  const [one, two, leaver] = await Promise.all([follow(), follow(), follow()]);
  await nextOf(leaver, 3);
  await leaver.return(undefined);
  const [own, ...others] = await Promise.all([sent, one, two].map((events) => Array.fromAsync(events)));
  for (const other of others) {
    expect(textOf(other)).toBe(TEXT);
    const live = other.filter(({ id }) => id !== undefined).map(({ data }) => data);
    expect((own ?? []).map(({ data }) => data).slice(-live.length)).toEqual(live);
  }
});

test('a task that is cancelled while clients follow it ends as cancelled for all of them', async () => {
  const parts = [{ data: { ms: 60_000 } }];
  const message = { messageId: 'long', role: 'ROLE_USER', parts };
  const sent = await stream('sleeper', 'SendStreamingMessage', { message });
  const [task] = await nextOf(sent, 2);
  const id = task?.value.id;
  const followed = await stream('sleeper', 'SubscribeToTask', { id });
  await nextOf(followed, 1);
  const { body } = await server.post(`/a2a/sleeper/tasks/${id}:cancel`);
  expect(body).toMatchObject({ id, status: { state: 'TASK_STATE_CANCELED' } });
  for (const events of [sent, followed]) {
    const rest = await Array.fromAsync(events);
    expect(rest.map(({ value }) => value.status.state)).toEqual(['TASK_STATE_CANCELED']);
  }
});

test('an A2A stream that cannot begin is a plain error, and one that fails ends with the reason', async () => {
  const { body, status } = await server.post('/a2a/tokens', {
    jsonrpc: '2.0',
    id: 7,
    method: 'SubscribeToTask',
    params: { id: 'unknown' },
  });
  expect([status, body.id, body.error.code]).toEqual([200, 7, -32001]);
  const parts = [{ data: { x: 1 } }];
  const message = { messageId: 'bad', role: 'ROLE_USER', parts };
  const events = await Array.fromAsync(await stream('fails', 'SendStreamingMessage', { message }));
  expect(events.at(-1)?.value.status).toMatchObject({
    state: 'TASK_STATE_FAILED',
    message: { role: 'ROLE_AGENT', parts: [{ text: expect.stringMatching(/\w/) }] },
  });
});

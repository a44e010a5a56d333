import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ReplaceableApp } from '../../../src/app/replaceable-app.ts';
import { A2A_FOLDER as folder, message } from '../../support/a2a.ts';
import { openApp } from '../../support/app.ts';
import { type HttpClient, httpClient } from '../../support/http-client.ts';

let server: Awaited<ReturnType<typeof openApp>>;
let http: HttpClient;

beforeAll(async () => {
  server = await openApp({ folder, graphs: ['chat', 'chat-question', 'sleeper', 'says'] });
  http = httpClient((await server.app.listen()).url);
});

afterAll(async () => {
  http[Symbol.dispose]();
  await server[Symbol.asyncDispose]();
});

async function eventsOf(method: string, path: string, body?: object): Promise<string[]> {
  const { events, headers } = await http.stream(method, path, { body });
  expect(headers['content-type']).toContain('text/event-stream');
  return (await Array.fromAsync(events)).map(({ data }) => Object.keys(JSON.parse(data)).join());
}

/** A finished task of the agent that repeats what it hears. */
async function finished() {
  const { body } = await server.post('/a2a/chat/message:send', { message: message('Hi') });
  return body.task;
}

test('A2A over HTTP+JSON sends a message, reads and lists its task, and refuses to cancel a finished one', async () => {
  const task = await finished();
  expect(task).toMatchObject({
    status: { state: 'TASK_STATE_COMPLETED', timestamp: expect.stringMatching(/^[\d-]+T[\d:.]+Z$/) },
    artifacts: [{ name: 'Assistant Response', parts: [{ text: 'You said: Hi' }] }],
  });
  const at = `/a2a/chat/tasks/${task.id}`;
  expect((await server.get(at)).body).toEqual(task);
  expect((await server.get(`${at}?historyLength=1`)).body.history).toEqual(task.history.slice(-1));
  expect((await server.get(`${at}?history_length=0`)).body).not.toHaveProperty('history');
  expect((await server.get(`${at}?contextId=${task.contextId}`)).status).toBe(200);
  const { artifacts, ...listed } = task;
  const list = await server.get(`/a2a/chat/tasks?contextId=${task.contextId}`);
  expect(list.body).toEqual({ tasks: [listed], nextPageToken: '', pageSize: 50, totalSize: 1 });
  const whole = await server.get(`/a2a/chat/tasks?contextId=${task.contextId}&includeArtifacts=true`);
  expect(whole.body.tasks[0].artifacts).toEqual(artifacts);
  const { status, body } = await server.post(`${at}:cancel`);
  expect([status, body.error.status, body.error.details[0].reason]).toEqual([
    400,
    'FAILED_PRECONDITION',
    'TASK_NOT_CANCELABLE',
  ]);
});

test('A2A over HTTP+JSON returns a message if the graph answers with one', async () => {
  const say = { message: 'Just that.' };
  const { body } = await server.post('/a2a/says/message:send', { message: message({ say }) });
  expect(body).toMatchObject({ message: { role: 'ROLE_AGENT', parts: [{ text: 'Just that.' }] } });
});

test('A2A over HTTP+JSON streams events of the protocol, by POST and by GET', async () => {
  const sent = await eventsOf('POST', '/a2a/chat/message:stream', { message: message('Hi') });
  expect(sent).toEqual(['task', 'statusUpdate', 'artifactUpdate', 'statusUpdate']);

  const configuration = { returnImmediately: true };
  const slow = { message: message({ ms: 60_000 }), configuration };
  const { body } = await server.post('/a2a/sleeper/message:send', slow);
  const { id, status } = body.task;
  expect(['TASK_STATE_SUBMITTED', 'TASK_STATE_WORKING']).toContain(status.state);
  const at = `/a2a/sleeper/tasks/${id}`;
  const streams = await Promise.all(['GET', 'POST'].map((method) => http.stream(method, `${at}:subscribe`)));
  for (const { events } of streams) {
    expect(JSON.parse((await events.next()).value?.data ?? '')).toMatchObject({ task: { id } });
  }
  const cancelled = await server.post(`${at}:cancel`, undefined, { 'content-type': 'application/json' });
  expect(cancelled.body.status.state).toBe('TASK_STATE_CANCELED');
  for (const { events } of streams) {
    const last = (await Array.fromAsync(events)).at(-1);
    expect(JSON.parse(last?.data ?? '')).toMatchObject({
      statusUpdate: { taskId: id, status: { state: 'TASK_STATE_CANCELED' } },
    });
  }
  expect((await server.post(`${at}:cancel`)).status).toBe(200);
  expect((await server.get(`${at}:subscribe`)).body.error.details[0].reason).toBe('UNSUPPORTED_OPERATION');
});

const MESSAGE = { messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'x' }] };
const UNKNOWN = '01234567-89ab-7def-8123-456789abcdef';

test.each([
  ['GET', `/tasks/${UNKNOWN}`, undefined, 404, 'NOT_FOUND', 'TASK_NOT_FOUND'],
  ['GET', '/tasks/no-id', undefined, 404, 'NOT_FOUND', 'TASK_NOT_FOUND'],
  ['POST', `/tasks/${UNKNOWN}:cancel`, undefined, 404, 'NOT_FOUND', 'TASK_NOT_FOUND'],
  ['POST', `/tasks/${UNKNOWN}:subscribe`, undefined, 404, 'NOT_FOUND', 'TASK_NOT_FOUND'],
  ['POST', `/tasks/${UNKNOWN}:rewind`, undefined, 404, 'NOT_FOUND', 'TASK_NOT_FOUND'],
  ['GET', '/extendedAgentCard', undefined, 400, 'FAILED_PRECONDITION', 'UNSUPPORTED_OPERATION'],
  ['GET', '/tasks?pageSize=101', undefined, 400, 'INVALID_ARGUMENT', 'INVALID_PARAMS'],
  ['GET', '/tasks?historyLength=-1', undefined, 400, 'INVALID_ARGUMENT', 'INVALID_PARAMS'],
  ['POST', '/message:send', 'no JSON', 400, 'INVALID_ARGUMENT', 'INVALID_PARAMS'],
  ['POST', '/message:send', [], 400, 'INVALID_ARGUMENT', 'INVALID_PARAMS'],
  ['POST', '/message:stream', {}, 400, 'INVALID_ARGUMENT', 'INVALID_PARAMS'],
  [
    'POST',
    '/message:send',
    { message: { ...MESSAGE, parts: [{ raw: '%' }] } },
    ...[400, 'INVALID_ARGUMENT', 'INVALID_PARAMS'],
  ],
  ['POST', '/message:send', { message: { ...MESSAGE, taskId: UNKNOWN } }, 404, 'NOT_FOUND', 'TASK_NOT_FOUND'],
] as const)(
  'A2A over HTTP+JSON: %s %s with %j is %i %s',
  async (method, path, payload, status, name, reason) => {
    const answer = await server.send(method, `/a2a/chat${path}`, payload);
    expect([answer.status, answer.headers['content-type']]).toEqual([
      status,
      'application/json; charset=utf-8',
    ]);
    expect(answer.body.error).toMatchObject({ code: status, status: name, message: expect.any(String) });
    const [info, ...others] = answer.body.error.details;
    expect(info).toEqual({
      '@type': 'type.googleapis.com/google.rpc.ErrorInfo',
      reason,
      domain: 'a2a-protocol.org',
      metadata: {},
    });
    const types = reason === 'INVALID_PARAMS' ? ['type.googleapis.com/google.rpc.BadRequest'] : [];
    expect(others.map((each: { '@type': string }) => each['@type'])).toEqual(types);
  },
);

test('A2A over HTTP+JSON refuses unsupported versions and media types, and hides tasks of other agents', async () => {
  const sent = JSON.stringify({ message: MESSAGE });
  const reasonOf = async (url: string, headers: Record<string, string>) => {
    const { status, body } = await server.post(url, sent, headers);
    return [status, body.error.details[0].reason];
  };
  const json = { 'content-type': 'application/json' };
  for (const version of ['0.3', '2.0']) {
    const refused = [400, 'VERSION_NOT_SUPPORTED'];
    expect(await reasonOf('/a2a/chat/message:send', { ...json, 'a2a-version': version })).toEqual(refused);
    expect(await reasonOf(`/a2a/chat/message:send?A2A-Version=${version}`, json)).toEqual(refused);
  }
  const wrong = await reasonOf('/a2a/chat/message:send', { 'content-type': 'text/plain' });
  expect(wrong).toEqual([400, 'CONTENT_TYPE_NOT_SUPPORTED']);
  expect(await reasonOf('/a2a/nobody/message:send', json)).toEqual([400, 'INVALID_PARAMS']);
  const { id, contextId } = await finished();
  expect((await server.get(`/a2a/chat-question/tasks/${id}`)).status).toBe(404);
  expect((await server.get(`/a2a/chat/tasks/${id}?contextId=other`)).status).toBe(404);
  const other = { message: { ...MESSAGE, contextId, taskId: id } };
  expect((await server.post('/a2a/chat/message:send', other)).body.error.details[0].reason).toBe(
    'UNSUPPORTED_OPERATION',
  );
});

test('a missing A2A task is 404 without waiting for the schemas of the graph', async () => {
  await using slow = await openApp({ folder, graphs: ['chat'], one_process: 'a service of it is replaced' });
  const { services } = slow.app as ReplaceableApp;
  Object.assign(services.assistants, { schemas: () => new Promise(() => {}) });
  const { status, body } = await slow.get(`/a2a/chat/tasks/${randomUUID()}`);
  expect([status, body.error.details[0].reason]).toEqual([404, 'TASK_NOT_FOUND']);
});

test('a client that accepts the media type of A2A gets it', async () => {
  const own = 'application/a2a+json';
  const typeOf = async (headers: Record<string, string>) => {
    const answer = await server.post('/a2a/chat/message:send', { message: message('Hi') }, headers);
    return answer.headers['content-type'];
  };
  expect(await typeOf({ 'content-type': own })).toContain(own);
  expect(await typeOf({ accept: `${own}, application/json;q=0.5` })).toContain(own);
  expect(await typeOf({ 'content-type': own, accept: 'application/json' })).toContain('application/json');
});

import { afterAll, beforeAll, expect, test } from 'vitest';
import { A2A_FOLDER, message, oldMessage, type Rpc, rpcTo } from '../../support/a2a.ts';
import { openApp } from '../../support/app.ts';

const URL = 'https://receiver.example/told';
const UUID = /^[0-9a-f-]{36}$/;

let server: Awaited<ReturnType<typeof openApp>>;
let rpc: Rpc;

beforeAll(async () => {
  server = await openApp({ graphs: ['chat-question'], folder: A2A_FOLDER });
  rpc = rpcTo(server, 'chat-question');
});
afterAll(() => server[Symbol.asyncDispose]());

async function task(): Promise<string> {
  return (await rpc('SendMessage', { message: message('Hi') })).result.task.id;
}

test('A2A 1.0: push configurations are created, read, listed, replaced and deleted, without their credentials', async () => {
  const taskId = await task();
  const authentication = { scheme: 'Bearer', credentials: 's3cret' };
  const made = await rpc('CreateTaskPushNotificationConfig', {
    taskId,
    url: URL,
    token: 't',
    authentication,
  });
  const { id } = made.result;
  expect(id).toMatch(UUID);
  expect(made.result).toEqual({ taskId, id, url: URL, token: 't', authentication });

  const shown = { taskId, id, url: URL, token: 't', authentication: { scheme: 'Bearer' } };
  expect((await rpc('GetTaskPushNotificationConfig', { taskId, id })).result).toEqual(shown);
  await rpc('CreateTaskPushNotificationConfig', { task_id: taskId, id: 'mine', url: URL });
  await rpc('CreateTaskPushNotificationConfig', { taskId, id: 'mine', url: `${URL}/2` });
  expect((await rpc('ListTaskPushNotificationConfigs', { taskId })).result).toEqual({
    configs: [shown, { taskId, id: 'mine', url: `${URL}/2` }],
  });
  for (const _ of ['once', 'and again'])
    expect(await rpc('DeleteTaskPushNotificationConfig', { taskId, id })).toMatchObject({ result: null });
  expect((await rpc('GetTaskPushNotificationConfig', { taskId, id })).error?.code).toBe(-32001);
  expect((await rpc('GetTaskPushNotificationConfig', { taskId, id: '' })).error).toBeUndefined();
});

test('A2A 0.3: the only push configuration of a task has its id, and is found without one or by `default`', async () => {
  const { result } = await rpc('message/send', { message: oldMessage('Hi') });
  const taskId = result.id;
  const authentication = { schemes: ['Bearer', 'Basic'], credentials: 's3cret' };
  const pushNotificationConfig = { url: URL, authentication };
  const set = await rpc('tasks/pushNotificationConfig/set', { taskId, pushNotificationConfig });
  expect(set.result).toMatchObject({ taskId, pushNotificationConfig: { id: taskId, url: URL } });
  for (const pushNotificationConfigId of [undefined, 'default', taskId]) {
    const got = await rpc('tasks/pushNotificationConfig/get', { id: taskId, pushNotificationConfigId });
    expect(got.result.pushNotificationConfig).toMatchObject({ id: taskId, url: URL });
    expect(JSON.stringify(got)).not.toContain('s3cret');
  }
  const list = await rpc('tasks/pushNotificationConfig/list', { id: taskId });
  expect(list.result).toHaveLength(1);
  const gone = { id: taskId, pushNotificationConfigId: taskId };
  expect(await rpc('tasks/pushNotificationConfig/delete', gone)).toMatchObject({ result: null });
  expect((await rpc('tasks/pushNotificationConfig/get', { id: taskId })).error?.code).toBe(-32001);
});

test('A2A over HTTP+JSON: push configurations are created, read, listed, replaced and deleted', async () => {
  const id = await task();
  const at = `/a2a/chat-question/tasks/${id}/pushNotificationConfigs`;
  const made = await server.post(at, { id: 'mine', url: URL });
  expect([made.status, made.body]).toEqual([200, { taskId: id, id: 'mine', url: URL }]);
  expect((await server.get(`${at}/mine`)).body).toEqual(made.body);
  expect((await server.get(at)).body).toEqual({ configs: [made.body] });
  expect((await server.delete(`${at}/mine`)).status).toBe(200);
  expect((await server.delete(`${at}/mine`)).status).toBe(200);
  const missing = await server.get(`${at}/mine`);
  expect([missing.status, missing.body.error.details[0].reason]).toEqual([404, 'TASK_NOT_FOUND']);
  expect((await server.post(at, '{"url"')).status).toBe(400);
});

test.each([
  ['http://169.254.169.254/latest', /blocked/],
  ['http://localhost:80/x', /https|blocked/],
  ['ftp://receiver.example/', /scheme/],
  ['', /url/],
])('push URL %j is refused, even with a message, which then creates no task', async (url, text) => {
  const taskId = await task();
  const refused = await rpc('CreateTaskPushNotificationConfig', { taskId, url });
  expect([refused.error?.code, refused.error?.message]).toEqual([-32602, expect.stringMatching(text)]);
  const before = (await rpc('ListTasks', {})).result.totalSize;
  const configuration = { taskPushNotificationConfig: { url } };
  const sent = await rpc('SendMessage', { message: message('Hi'), configuration });
  expect(sent.error?.code).toBe(-32602);
  expect((await rpc('ListTasks', {})).result.totalSize).toBe(before);
});

test('an invalid push header and too many subscribers are refused', async () => {
  const taskId = await task();
  for (const wrong of [
    { token: 'a\r\nx: y' },
    { authentication: { scheme: 'Bearer', credentials: 'ü' } },
    { token: 'x'.repeat(5000) },
  ]) {
    const refused = await rpc('CreateTaskPushNotificationConfig', { taskId, url: URL, ...wrong });
    expect(refused.error?.code).toBe(-32602);
  }
  for (let n = 0; n < 20; n++)
    await rpc('CreateTaskPushNotificationConfig', { taskId, id: `${n}`, url: URL });
  const more = await rpc('CreateTaskPushNotificationConfig', { taskId, id: 'more', url: URL });
  expect(more.error).toMatchObject({ code: -32602, message: expect.stringContaining('20') });
  const again = await rpc('CreateTaskPushNotificationConfig', { taskId, id: '7', url: `${URL}/7` });
  expect(again.result.url).toBe(`${URL}/7`);
});

test.each([
  ['1.0', 'SendMessage', message],
  ['0.3', 'message/send', oldMessage],
] as const)(
  '%s: push configurations without an id in several messages are one subscriber',
  async (_, method, said) => {
    const { result } = await rpc('SendMessage', { message: message('Hi') });
    const { id: taskId } = result.task;
    const configuration = {
      returnImmediately: true,
      blocking: false,
      taskPushNotificationConfig: { url: `${URL}/2` },
      pushNotificationConfig: { url: `${URL}/2` },
    };
    await rpc('CreateTaskPushNotificationConfig', { taskId, id: taskId, url: URL });
    expect((await rpc(method, { message: said('Ada', { taskId }), configuration })).error).toBeUndefined();
    expect((await rpc('ListTaskPushNotificationConfigs', { taskId })).result.configs).toEqual([
      { taskId, id: taskId, url: `${URL}/2` },
    ]);
  },
);

test('a message that would exceed the limit of subscribers of a task starts nothing', async () => {
  const taskId = await task();
  for (let n = 0; n < 20; n++)
    await rpc('CreateTaskPushNotificationConfig', { taskId, id: `${n}`, url: URL });
  const send = (id: string) => {
    const configuration = { taskPushNotificationConfig: { id, url: `${URL}/${id}` } };
    return rpc('SendMessage', { message: message('Ada', { taskId }), configuration });
  };
  const more = await rpc('CreateTaskPushNotificationConfig', { taskId, url: URL });
  for (const id of ['', 'more']) expect((await send(id)).error).toEqual(more.error);
  const waiting = await rpc('GetTask', { id: taskId });
  expect(waiting.result.status.state).toBe('TASK_STATE_INPUT_REQUIRED');
  expect((await send('7')).result.task.status.state).toBe('TASK_STATE_COMPLETED');
  const { configs } = (await rpc('ListTaskPushNotificationConfigs', { taskId })).result;
  expect(configs).toHaveLength(20);
  expect(configs).toContainEqual({ taskId, id: '7', url: `${URL}/7` });
});

test('missing fields and wrong types of push configurations are reported to clients of 0.3', async () => {
  const { result } = await rpc('message/send', { message: oldMessage('Hi') });
  for (const params of [
    { taskId: result.id },
    { pushNotificationConfig: { url: URL } },
    { taskId: result.id, pushNotificationConfig: { url: [URL] } },
    { taskId: result.id, pushNotificationConfig: { url: URL, token: [1] } },
  ]) {
    const set = await rpc('tasks/pushNotificationConfig/set', params);
    expect([params, set.error?.code]).toEqual([params, -32602]);
  }
  expect((await rpc('tasks/pushNotificationConfig/get', {})).error?.code).toBe(-32602);
});

test('a push configuration for a missing task is refused', async () => {
  for (const taskId of ['0190a0a0-0000-7000-8000-000000000000', 'no task'])
    for (const [method, params] of Object.entries({
      CreateTaskPushNotificationConfig: { taskId, url: URL },
      GetTaskPushNotificationConfig: { taskId, id: 'x' },
      ListTaskPushNotificationConfigs: { taskId },
      DeleteTaskPushNotificationConfig: { taskId, id: 'x' },
    })) {
      expect([method, (await rpc(method, params)).error?.code]).toEqual([method, -32001]);
    }
});

test('a server with webhooks disabled refuses push configurations, and its cards say so', async () => {
  await using silent = await openApp({
    graphs: ['chat-question'],
    folder: A2A_FOLDER,
    http: { disable_webhooks: true },
  });
  const ask = rpcTo(silent, 'chat-question');
  const { result } = await ask('SendMessage', { message: message('Hi') });
  const taskId = result.task.id;
  const configuration = { taskPushNotificationConfig: { url: URL } };
  const codes = await Promise.all([
    ask('CreateTaskPushNotificationConfig', { taskId, url: URL }),
    ask('GetTaskPushNotificationConfig', { taskId, id: 'x' }),
    ask('ListTaskPushNotificationConfigs', { taskId }),
    ask('DeleteTaskPushNotificationConfig', { taskId, id: 'x' }),
    ask('SendMessage', { message: message('Hi'), configuration }),
    ask('tasks/pushNotificationConfig/list', { id: taskId }),
  ]);
  expect(codes.map(({ error }) => error?.code)).toEqual(codes.map(() => -32003));
  for (const [at, sends] of [
    [silent, false],
    [server, true],
  ] as const) {
    const { body } = await at.get('/a2a/chat-question');
    expect(body.capabilities.pushNotifications).toBe(sends);
  }
});

import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { A2A_FOLDER, message, oldMessage, rpcTo } from '../../support/a2a.ts';
import { openApp } from '../../support/app.ts';
import { type Receiver, receiver } from '../../support/receiver.ts';

const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
const environment = {
  LANGGRAPH_WEBHOOKS: JSON.stringify({ secret: SECRET, url: { disable_loopback: false } }),
};

let server: Awaited<ReturnType<typeof openApp>>;
let hook: Receiver;

beforeAll(async () => {
  const graphs = ['chat-question', 'sleeper', 'fails', 'says'];
  server = await openApp({ graphs, folder: A2A_FOLDER, environment });
});
afterAll(() => server[Symbol.asyncDispose]());
beforeEach(async () => {
  hook = await receiver();
  return () => hook.close();
});

/** What came, as `state` or `state: text of the answer`. */
function states(): string[] {
  return hook.received.map(({ body }) => {
    const task = (body['task'] ?? body) as {
      status: { state: string };
      artifacts?: { parts: { text?: string }[] }[];
    };
    const text = task.artifacts?.[0]?.parts[0]?.text;
    return text === undefined ? task.status.state : `${task.status.state}: ${text}`;
  });
}

test('a push subscriber of 1.0 is notified of the question and the end of a task, in order and signed', async () => {
  const rpc = rpcTo(server, 'chat-question');
  const subscriber = {
    url: `${hook.url}/told`,
    token: 'a token',
    authentication: { scheme: 'Bearer', credentials: 'a secret' },
  };
  const configuration = { taskPushNotificationConfig: subscriber };
  const { result } = await rpc('SendMessage', { message: message('Hi'), configuration });
  const { id, contextId } = result.task;
  await rpc('SendMessage', { message: message('Ada', { taskId: id }) });
  await hook.came(2);

  expect(states()).toEqual(['TASK_STATE_INPUT_REQUIRED', 'TASK_STATE_COMPLETED: Hello, Ada.']);
  const [{ headers, text, path }, last] = hook.received as [Receiver['received'][0], Receiver['received'][0]];
  expect(path).toBe('/told');
  expect(headers).toMatchObject({
    'content-type': 'application/a2a+json',
    'x-a2a-notification-token': 'a token',
    authorization: 'Bearer a secret',
  });
  expect(new Webhook(SECRET).verify(text, headers)).toMatchObject({ task: { id, contextId } });
  const later = await rpc('GetTask', { id });
  expect(last.body).toEqual({ task: later.result });
  const { body: deliveries } = await server.get('/webhooks/deliveries?limit=1');
  expect(deliveries).toMatchObject([{ kind: 'a2a', delivery_id: last.headers['webhook-id'] }]);
  expect(JSON.stringify(deliveries)).not.toContain('secret');
});

test('a push subscriber of 0.3 gets the task in the form of its version', async () => {
  const rpc = rpcTo(server, 'chat-question');
  const configuration = {
    blocking: false,
    pushNotificationConfig: { url: hook.url, authentication: { schemes: ['Basic'], credentials: 'YTpi' } },
  };
  const { result } = await rpc('message/send', { message: oldMessage('Hi'), configuration });
  await hook.came(1);
  await rpc('tasks/cancel', { id: result.id });
  await hook.came(2);
  expect(states()).toEqual(['input-required', 'canceled']);
  expect(hook.received[0]).toMatchObject({
    headers: { 'content-type': 'application/json', authorization: 'Basic YTpi' },
    body: { kind: 'task', id: result.id },
  });
});

test('push subscribers are notified of a task that is cancelled while it works, fails or is abandoned', async () => {
  const slow = rpcTo(server, 'sleeper');
  const configuration = { returnImmediately: true, taskPushNotificationConfig: { url: hook.url } };
  const { result } = await slow('SendMessage', { message: message({ ms: 60_000 }), configuration });
  await slow('CancelTask', { id: result.task.id });
  await hook.came(1);
  await rpcTo(server, 'fails')('SendMessage', { message: message({ x: 1 }), configuration });
  await hook.came(2);
  const asks = rpcTo(server, 'chat-question');
  const named = { contextId: 'a name' };
  await asks('SendMessage', { message: message('Hi', named), configuration });
  await hook.came(3);
  await asks('SendMessage', { message: message('Another thing', named) });
  await hook.came(4);
  expect(states()).toEqual([
    'TASK_STATE_CANCELED',
    'TASK_STATE_FAILED',
    'TASK_STATE_INPUT_REQUIRED',
    'TASK_STATE_CANCELED',
  ]);
});

test('a run that is cancelled directly is reported as the cancellation of its task', async () => {
  const configuration = { returnImmediately: true, taskPushNotificationConfig: { url: hook.url } };
  const { result } = await rpcTo(server, 'sleeper')('SendMessage', {
    message: message({ ms: 60_000 }),
    configuration,
  });
  const { id, contextId } = result.task;
  await server.post(`/threads/${contextId}/runs/${id}/cancel?wait=true`);
  await hook.came(1);
  expect(states()).toEqual(['TASK_STATE_CANCELED']);
});

test('an A2A task is cancelled, with a notification, when its thread continues without it', async () => {
  const configuration = { taskPushNotificationConfig: { url: hook.url } };
  const rpc = rpcTo(server, 'chat-question');
  const { result } = await rpc('SendMessage', { message: message('Hi'), configuration });
  const { id, contextId } = result.task;
  const command = { resume: 'Ada' };
  await server.post(`/threads/${contextId}/runs/wait`, { assistant_id: 'chat-question', command });
  // Whoever looks finds it out, and else the server within a minute.
  const { status } = (await rpc('GetTask', { id })).result;
  expect(status.state).toBe('TASK_STATE_CANCELED');
  await hook.came(2);
  expect(states()).toEqual(['TASK_STATE_INPUT_REQUIRED', 'TASK_STATE_CANCELED']);
});

test('a push subscriber added while a task waits is notified of later states, and a removed one is not', async () => {
  const rpc = rpcTo(server, 'chat-question');
  const { result } = await rpc('SendMessage', { message: message('Hi') });
  const taskId = result.task.id;
  const stays = await rpc('CreateTaskPushNotificationConfig', { taskId, id: 'stays', url: `${hook.url}/a` });
  expect(stays.result).toEqual({ taskId, id: 'stays', url: `${hook.url}/a` });
  await rpc('CreateTaskPushNotificationConfig', { taskId, id: 'goes', url: `${hook.url}/b` });
  await rpc('DeleteTaskPushNotificationConfig', { taskId, id: 'goes' });
  await rpc('SendMessage', { message: message('Ada', { taskId }) });
  await hook.came(1);
  expect(hook.received.map(({ path }) => path)).toEqual(['/a']);
});

test('a push receiver that was down gets all notifications later, in order', async () => {
  const rpc = rpcTo(server, 'chat-question');
  hook.answers.push(503);
  const configuration = { taskPushNotificationConfig: { url: hook.url } };
  const { result } = await rpc('SendMessage', { message: message('Hi'), configuration });
  await rpc('SendMessage', { message: message('Ada', { taskId: result.task.id }) });
  await hook.came(3);
  expect(states()).toEqual([
    'TASK_STATE_INPUT_REQUIRED',
    'TASK_STATE_INPUT_REQUIRED',
    'TASK_STATE_COMPLETED: Hello, Ada.',
  ]);
});

test('the log contains no secret of a push subscriber', () => {
  expect(JSON.stringify(server.log)).not.toMatch(/a token|a secret|YTpi/);
});

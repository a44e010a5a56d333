import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import { message as newMessage, oldMessage } from '../../support/a2a.ts';
import { openApp } from '../../support/app.ts';

const folder = resolve(import.meta.dirname, '../../fixtures/auth');
const ALICE = { authorization: 'Bearer alice-token' };
const BOB = { authorization: 'Bearer bob-token' };

test('a task is visible only to its owner, even if two users use the same context name', async () => {
  await using server = await openApp({ graphs: ['echo'], folder });
  const rpc = async (who: Record<string, string>, method: string, params: object) =>
    (await server.post('/a2a/echo', { jsonrpc: '2.0', id: 1, method, params }, who)).body;
  const message = { messageId: 'm1', role: 'ROLE_USER', contextId: 'diary', parts: [{ data: { x: 1 } }] };
  const { result } = await rpc(ALICE, 'SendMessage', { message });
  const { id, contextId } = result.task;
  expect(contextId).toBe('diary');
  expect((await rpc(ALICE, 'GetTask', { id })).result.id).toBe(id);

  expect((await rpc(BOB, 'GetTask', { id })).error.code).toBe(-32001);
  expect((await rpc(BOB, 'CancelTask', { id })).error.code).toBe(-32001);
  expect((await rpc(BOB, 'SubscribeToTask', { id })).error.code).toBe(-32001);
  expect((await rpc(BOB, 'ListTasks', {})).result.totalSize).toBe(0);
  const reply = { message: { ...message, taskId: id } };
  expect((await rpc(BOB, 'SendMessage', reply)).error.code).toBe(-32001);

  const subscriber = { taskId: id, id: 'x', url: 'https://receiver.example/' };
  expect((await rpc(ALICE, 'CreateTaskPushNotificationConfig', subscriber)).result.id).toBe('x');
  for (const verb of ['Create', 'Get', 'Delete']) {
    const answer = await rpc(BOB, `${verb}TaskPushNotificationConfig`, subscriber);
    expect([verb, answer.error?.code]).toEqual([verb, -32001]);
  }
  expect((await rpc(BOB, 'ListTaskPushNotificationConfigs', { taskId: id })).error.code).toBe(-32001);
  expect((await rpc(ALICE, 'ListTaskPushNotificationConfigs', { taskId: id })).result.configs).toHaveLength(
    1,
  );

  const own = await rpc(BOB, 'SendMessage', { message: { ...message, messageId: 'm2' } });
  expect(own.result.task.contextId).toBe('diary');
  expect(JSON.stringify(own)).not.toContain(id);
  expect((await rpc(BOB, 'ListTasks', { contextId: 'diary' })).result.totalSize).toBe(1);
});

test('a task is visible only to its owner by the methods of 0.3 and over HTTP+JSON too', async () => {
  await using server = await openApp({ graphs: ['interrupting'], folder });
  const rpc = async (who: Record<string, string>, method: string, params: object) =>
    (await server.post('/a2a/interrupting', { jsonrpc: '2.0', id: 1, method, params }, who)).body;
  const { result } = await rpc(ALICE, 'message/send', { message: oldMessage({ x: 1 }) });
  const { id, contextId } = result;
  expect((await rpc(ALICE, 'tasks/get', { id })).result.status.state).toBe('input-required');

  const answer = oldMessage('Bob', { taskId: id });
  expect((await rpc(BOB, 'message/send', { message: answer })).error.code).toBe(-32001);
  for (const method of ['tasks/get', 'tasks/cancel', 'tasks/pushNotificationConfig/list']) {
    expect([method, (await rpc(BOB, method, { id })).error.code]).toEqual([method, -32001]);
  }
  const at = `/a2a/interrupting/tasks/${id}`;
  expect((await server.get(at, BOB)).status).toBe(404);
  expect((await server.get(`${at}:subscribe`, BOB)).status).toBe(404);
  expect((await server.post(`${at}:cancel`, undefined, BOB)).status).toBe(404);
  expect((await server.get(`${at}/pushNotificationConfigs`, BOB)).status).toBe(404);
  expect((await server.get('/a2a/interrupting/tasks', BOB)).body.totalSize).toBe(0);
  const foreign = await rpc(BOB, 'message/send', { message: oldMessage({ x: 1 }, { contextId }) });
  expect(foreign.result).toBeUndefined();

  const mine = await rpc(ALICE, 'message/send', { message: oldMessage('Alice', { taskId: id }) });
  expect(mine.result).toMatchObject({ id, status: { state: 'completed' } });
});

test('a user who may read a task and not change it cannot cancel it', async () => {
  const environment = { LANGGRAPH_AUTH: JSON.stringify({ path: './updates.ts:auth' }) };
  await using server = await openApp({ graphs: ['sleeper'], folder, environment });
  const headers = { authorization: 'Bearer reader' };
  const body = { message: newMessage({ ms: 60_000 }), configuration: { returnImmediately: true } };
  const { id } = (await server.post('/a2a/sleeper/message:send', body, headers)).body.task;
  const task = `/a2a/sleeper/tasks/${id}`;
  expect((await server.post(`${task}:cancel`, undefined, headers)).status).toBe(404);
  expect((await server.get(task, headers)).body.status.state).toMatch(/SUBMITTED|WORKING/);
});

test('an A2A request without credentials is refused', async () => {
  await using server = await openApp({ graphs: ['echo'], folder });
  for (const url of ['/a2a/echo', '/a2a/echo/tasks', '/.well-known/agent-card.json?assistant_id=echo']) {
    expect([url, (await server.get(url)).status]).toEqual([url, 401]);
  }
  expect((await server.post('/a2a/echo', {})).status).toBe(401);
});

import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import { openApp } from '../support/app.ts';

const folder = resolve(import.meta.dirname, '../fixtures/auth');
const ALICE = { authorization: 'Bearer alice-token' };
const BOB = { authorization: 'Bearer bob-token' };

test('a task is found by its owner alone, also where two call their contexts alike', async () => {
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

  const own = await rpc(BOB, 'SendMessage', { message: { ...message, messageId: 'm2' } });
  expect(own.result.task.contextId).toBe('diary');
  expect(JSON.stringify(own)).not.toContain(id);
  expect((await rpc(BOB, 'ListTasks', { contextId: 'diary' })).result.totalSize).toBe(1);
});

test('nobody is answered without saying who they are', async () => {
  await using server = await openApp({ graphs: ['echo'], folder });
  for (const url of ['/a2a/echo', '/a2a/echo/tasks', '/.well-known/agent-card.json?assistant_id=echo']) {
    expect([url, (await server.get(url)).status]).toEqual([url, 401]);
  }
  expect((await server.post('/a2a/echo', {})).status).toBe(401);
});

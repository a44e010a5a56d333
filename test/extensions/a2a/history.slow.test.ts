import { afterAll, beforeAll, expect, test } from 'vitest';
import { openApp } from '../../support/app.ts';

let server: Awaited<ReturnType<typeof openApp>>;

beforeAll(async () => {
  server = await openApp({ graphs: ['chat', 'chat-question'] });
});

afterAll(() => server[Symbol.asyncDispose]());

const OWN = { 'LangGraph-A2A-History-Scope': 'task' };

interface Told {
  readonly id: string;
  readonly history?: readonly { readonly taskId?: string; readonly parts: readonly { text: string }[] }[];
}

async function rpc(graph: string, method: string, params: object, headers: Record<string, string> = {}) {
  const { body } = await server.post(`/a2a/${graph}`, { jsonrpc: '2.0', id: 1, method, params }, headers);
  return body.result;
}

let count = 0;
async function say(graph: string, text: string, of: object = {}, more: object = {}, headers = {}) {
  count += 1;
  const message = { messageId: `m${count}`, role: 'ROLE_USER', parts: [{ text }], ...of };
  return (await rpc(graph, 'SendMessage', { message, ...more }, headers)).task as Told;
}

function texts({ history = [] }: Told): string[] {
  return history.map(({ parts }) => parts.map(({ text }) => text).join());
}

test('the history of a task is that of its context, or only its own if the extension header is sent', async () => {
  const of = { contextId: 'a talk' };
  await say('chat', 'one', of);
  const second = await say('chat', 'two', of);
  const whole = ['one', 'You said: one', 'two', 'You said: two'];
  expect(texts(second)).toEqual(whole);
  expect(second.history?.map(({ taskId }) => taskId === second.id)).toEqual([false, false, true, true]);
  const own = whole.slice(2);

  const { id } = second;
  expect(texts(await rpc('chat', 'GetTask', { id }))).toEqual(whole);
  expect(texts(await rpc('chat', 'GetTask', { id }, OWN))).toEqual(own);
  const { tasks } = await rpc('chat', 'ListTasks', of, OWN);
  expect(tasks.map(texts)).toEqual([own, ['one', 'You said: one']]);
  expect(texts(await say('chat', 'three', of, {}, OWN))).toEqual(['three', 'You said: three']);
});

test('the history of a task is as long as the client requests', async () => {
  const told = async (historyLength?: number) =>
    say('chat', 'hi', { contextId: `${historyLength}` }, { configuration: { historyLength } });
  expect(texts(await told())).toEqual(['hi', 'You said: hi']);
  expect(texts(await told(1))).toEqual(['You said: hi']);
  expect(texts(await told(9))).toEqual(['hi', 'You said: hi']);
  const none = await told(0);
  expect(none).not.toHaveProperty('history');
  const { id } = none;
  expect(texts(await rpc('chat', 'GetTask', { id, history_length: 1 }))).toEqual(['You said: hi']);
  expect(await rpc('chat', 'GetTask', { id, historyLength: 0 })).not.toHaveProperty('history');
});

test('the history of a task contains the answer to a question, even with a reused message id', async () => {
  const asked = await say('chat-question', 'Hi', { messageId: 'again' });
  const done = await say('chat-question', 'Ada', { messageId: 'again', taskId: asked.id });
  expect(texts(done)).toEqual(['Hi', 'Ada', 'Hello, Ada.']);
});

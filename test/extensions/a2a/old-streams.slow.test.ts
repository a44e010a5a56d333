import { afterAll, beforeAll, expect, test } from 'vitest';
import { A2A_FOLDER as folder, oldMessage } from '../../support/a2a.ts';
import { openApp } from '../../support/app.ts';

let server: Awaited<ReturnType<typeof openApp>>;

beforeAll(async () => {
  server = await openApp({ folder, graphs: ['chat', 'chat-question'] });
});

afterAll(() => server[Symbol.asyncDispose]());

async function stream(graph: string, method: string, params: object) {
  const { text, headers } = await server.post(`/a2a/${graph}`, { jsonrpc: '2.0', id: 7, method, params });
  expect(headers['content-type']).toContain('text/event-stream');
  return [...text.matchAll(/^data: (.*)$/gm)].map(([, data = '']) => JSON.parse(data));
}

test('A2A clients of 0.3 get events of their version, with the answer in the last one', async () => {
  const answers = await stream('chat', 'message/stream', { message: oldMessage('Hi') });
  expect(answers.every(({ jsonrpc, id }) => jsonrpc === '2.0' && id === 7)).toBe(true);
  const [task, working, artifact, last, ...others] = answers.map(({ result }) => result);
  expect(others).toEqual([]);
  expect(task).toMatchObject({ kind: 'task', status: { state: 'submitted' }, history: [{ role: 'user' }] });
  const of = { taskId: task.id, contextId: task.contextId };
  expect(working).toMatchObject({ ...of, kind: 'status-update', final: false, status: { state: 'working' } });
  expect(artifact).toMatchObject({
    ...of,
    kind: 'artifact-update',
    artifact: { parts: [{ kind: 'text', text: 'You said: Hi' }] },
  });
  expect(last).toMatchObject({
    ...of,
    kind: 'status-update',
    final: true,
    status: { state: 'completed', message: { parts: [{ kind: 'text', text: 'You said: Hi' }] } },
  });
});

test('a question ends an A2A stream of 0.3', async () => {
  const answers = await stream('chat-question', 'message/stream', { message: oldMessage('Hi') });
  expect(answers.at(-1)?.result).toMatchObject({
    kind: 'status-update',
    final: true,
    status: {
      state: 'input-required',
      message: { parts: [{ text: 'What is your name?' }, { kind: 'data' }] },
    },
  });
});

test('an invalid A2A subscription of 0.3 is reported as an event', async () => {
  const [refused, ...others] = await stream('chat', 'tasks/resubscribe', { id: 'unknown' });
  expect(others).toEqual([]);
  expect(refused).toMatchObject({ jsonrpc: '2.0', id: 7, error: { code: -32001 } });
});

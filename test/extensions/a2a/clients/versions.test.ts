import { type Part, Role, TaskState } from '@a2a-js/sdk';
import { ClientFactory } from '@a2a-js/sdk/client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openApp } from '../../../support/app.ts';

let server: Awaited<ReturnType<typeof openApp>>;
let url: string;

beforeAll(async () => {
  server = await openApp({ graphs: ['chat', 'chat-question', 'fails', 'tokens', 'sleeper', 'zod-state'] });
  ({ url } = await server.app.listen());
});

afterAll(() => server[Symbol.asyncDispose]());

let count = 0;
function saying(text: string, of: { contextId?: string; taskId?: string; parts?: Part[] } = {}) {
  count += 1;
  return {
    tenant: '',
    message: {
      messageId: `message-${count}`,
      contextId: '',
      taskId: '',
      role: Role.ROLE_USER,
      parts: [part(text)],
      metadata: undefined,
      extensions: [],
      referenceTaskIds: [],
      ...of,
    },
    configuration: undefined,
    metadata: undefined,
  };
}

function part(text: string) {
  return {
    content: { $case: 'text' as const, value: text },
    metadata: undefined,
    filename: '',
    mediaType: '',
  };
}

function data(value: object): Part {
  return { ...part(''), content: { $case: 'data', value } };
}

async function connected(graph: string) {
  return new ClientFactory().createFromUrl(`${url}/a2a/${graph}/`);
}

describe('an A2A client of 1.0', () => {
  test('sends a message and gets the finished task', async () => {
    const client = await connected('chat');
    const task = await client.sendMessage(saying('Hi'));
    expect(task).toMatchObject({
      status: { state: TaskState.TASK_STATE_COMPLETED },
      artifacts: [{ name: 'Assistant Response', parts: [part('You said: Hi')] }],
      history: [{ role: Role.ROLE_USER }, { role: Role.ROLE_AGENT }],
    });
  });

  test('answers the question of a task, which then continues', async () => {
    const client = await connected('chat-question');
    const asked = await client.sendMessage(saying('Hi'));
    if (!('status' in asked)) throw new Error('no task');
    expect(asked.status?.state).toBe(TaskState.TASK_STATE_INPUT_REQUIRED);
    expect(asked.status?.message?.parts[0]).toEqual(part('What is your name?'));
    const done = await client.sendMessage(saying('Ada', { taskId: asked.id }));
    expect(done).toMatchObject({
      id: asked.id,
      contextId: asked.contextId,
      status: { state: TaskState.TASK_STATE_COMPLETED },
      artifacts: [{ parts: [part('Hello, Ada.')] }],
    });
    const later = await client.getTask({ tenant: '', id: asked.id });
    expect(later).toEqual(done);
  });

  test('gets the reason why a task failed', async () => {
    const client = await connected('fails');
    const failed = await client.sendMessage(saying('', { parts: [data({ x: 1 })] }));
    expect(failed).toMatchObject({ status: { state: TaskState.TASK_STATE_FAILED } });
  });

  test('receives every piece of an answer before the final status', async () => {
    const client = await connected('tokens');
    const kinds: string[] = [];
    let text = '';
    for await (const { payload } of client.sendMessageStream(
      saying('Hi', { parts: [part('Hi'), data({ count: 5 })] }),
    )) {
      kinds.push(payload?.$case ?? '');
      if (payload?.$case !== 'artifactUpdate' || payload.value.artifact?.name === 'Output') continue;
      const said = payload.value.artifact?.parts[0]?.content?.value;
      text = payload.value.append ? text + said : String(said);
    }
    expect(text).toBe('t0 t1 t2 t3 t4 ');
    expect(kinds[0]).toBe('task');
    expect(kinds[1]).toBe('statusUpdate');
    expect(kinds.at(-1)).toBe('statusUpdate');
    const tasks = await client.listTasks({
      tenant: '',
      contextId: '',
      pageToken: '',
      status: 0,
      statusTimestampAfter: undefined,
      includeArtifacts: true,
    });
    expect(tasks.tasks[0]?.artifacts[0]?.parts[0]?.content?.value).toBe(text);
  });
});

describe('an A2A client of 0.3', () => {
  const rpc = async (graph: string, method: string, params: object) =>
    (await server.post(`/a2a/${graph}`, { jsonrpc: '2.0', id: 1, method, params })).body;
  const message = (text: string, of: object = {}) => ({
    message: {
      kind: 'message',
      messageId: `old-${text}`,
      role: 'user',
      parts: [{ kind: 'text', text }],
      ...of,
    },
  });

  test('answers a question and reads the task in the form of its version', async () => {
    const { result: asked } = await rpc('chat-question', 'message/send', message('Hi'));
    expect(asked).toMatchObject({ kind: 'task', status: { state: 'input-required' } });
    const answer = message('Grace', { taskId: asked.id });
    const { result } = await rpc('chat-question', 'message/send', answer);
    expect(result).toMatchObject({
      id: asked.id,
      status: { state: 'completed' },
      artifacts: [{ parts: [{ kind: 'text', text: 'Hello, Grace.' }] }],
    });
  });

  test('cancels a waiting task, which then accepts no more messages', async () => {
    const { result: asked } = await rpc('chat-question', 'message/send', message('Ho'));
    const { result } = await rpc('chat-question', 'tasks/cancel', { id: asked.id });
    expect(result.status.state).toBe('canceled');
    const late = await rpc('chat-question', 'message/send', message('Late', { taskId: asked.id }));
    expect(late.error.code).toBe(-32004);
  });

  test('finds no task of another agent, and no other methods', async () => {
    const { result } = await rpc('chat', 'message/send', message('Mine'));
    expect((await rpc('chat-question', 'tasks/get', { id: result.id })).error.code).toBe(-32001);
    expect((await rpc('chat', 'tasks/what', {})).error.code).toBe(-32601);
  });
});

test('a new message in a context whose task waits cancels that task', async () => {
  const client = await connected('chat-question');
  const first = await client.sendMessage(saying('Hi', { contextId: 'one name' }));
  await client.sendMessage(saying('Hi again', { contextId: 'one name' }));
  if (!('status' in first)) throw new Error('no task');
  const { status, contextId } = await client.getTask({ tenant: '', id: first.id });
  expect([status?.state, contextId]).toEqual([TaskState.TASK_STATE_CANCELED, 'one name']);
});

test('A2A can be disabled', async () => {
  await using closed = await openApp({ graphs: ['chat'], http: { disable_a2a: true } });
  expect((await closed.post('/a2a/chat', {})).status).toBe(404);
  expect((await closed.get('/.well-known/agent-card.json')).status).toBe(404);
});

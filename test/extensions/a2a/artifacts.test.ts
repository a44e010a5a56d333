import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { A2A_FOLDER, message, type Rpc, rpcTo } from '../../support/a2a.ts';
import { openApp } from '../../support/app.ts';
import { receiver } from '../../support/receiver.ts';
import { until } from '../../support/until.ts';

const environment = { LANGGRAPH_WEBHOOKS: '{"url": {"disable_loopback": false}}' };

let server: Awaited<ReturnType<typeof openApp>>;
let rpc: Rpc;

beforeAll(async () => {
  server = await openApp({ graphs: ['says', 'pauses'], folder: A2A_FOLDER, environment });
  rpc = rpcTo(server, 'says');
});
afterAll(() => server[Symbol.asyncDispose]());

interface Artifact {
  readonly artifactId: string;
  readonly name?: string;
  readonly parts: { readonly text?: string }[];
}

/** Names and texts; not the output values. */
function textsOf(artifacts: readonly Artifact[] = []): string[] {
  return artifacts
    .filter(({ name }) => name !== 'Output')
    .map(({ name, parts }) => `${name ?? ''}: ${parts.map(({ text }) => text).join('|')}`);
}

async function sent(said: object, contextId: string) {
  return (await rpc('SendMessage', { message: message(said, { contextId }) })).result;
}

/** The results of a stream, in order. */
async function streamed(
  said: object,
): Promise<{ artifactUpdate?: { artifact: Artifact; append?: boolean } }[]> {
  const params = { message: message(said) };
  const body = { jsonrpc: '2.0', id: 1, method: 'SendStreamingMessage', params };
  const { text } = await server.post('/a2a/says', body);
  return text
    .split('\n')
    .filter((line) => line.startsWith('data: '))
    .map((line) => JSON.parse(line.slice('data: '.length)).result);
}

describe('an artifact that a graph sets under the key a2a', () => {
  const shown = { artifacts: [{ name: 'Report', parts: [{ text: 'All of it.' }] }] };

  test('belongs to its own task and not to the next task of the context', async () => {
    const rejected = await sent({ say: { reject: 'Not this.' } }, 'rejected');
    expect(rejected.task.status).toMatchObject({
      state: 'TASK_STATE_REJECTED',
      message: { parts: [{ text: 'Not this.' }] },
    });
    const accepted = await sent({ answer: 'Yes.' }, 'rejected');
    expect(accepted.task.status.state).toBe('TASK_STATE_COMPLETED');
    expect(textsOf(accepted.task.artifacts)).toEqual(['Assistant Response: Yes.']);

    const own = await sent({ say: shown, answer: 'Left out.' }, 'shown');
    expect(textsOf(own.task.artifacts)).toEqual(['Report: All of it.']);
    const plain = await sent({ answer: 'Yes.' }, 'shown');
    expect(textsOf(plain.task.artifacts)).toEqual(['Assistant Response: Yes.']);
    const direct = await sent({ say: { message: 'Directly.' } }, 'shown');
    expect(direct.message.parts).toEqual([{ text: 'Directly.' }]);
    expect((await sent({ answer: 'Yes.' }, 'shown')).task.status.state).toBe('TASK_STATE_COMPLETED');
  });

  test('belongs to a later task that sets it again', async () => {
    for (const _ of ['once', 'twice']) {
      const { task } = await sent({ say: { reject: 'Never.' } }, 'stubborn');
      expect(task.status.state).toBe('TASK_STATE_REJECTED');
    }
  });
});

describe('an artifact that a graph emits by events', () => {
  const piece = (text: string, more: object = {}) => ({
    artifact: { id: 'log', name: 'Log', parts: [{ text }], ...more },
  });

  test('is stored even if no client reads the task', async () => {
    await using hook = await receiver();
    const configuration = { returnImmediately: true, taskPushNotificationConfig: { url: hook.url } };
    const shows = [piece('one '), piece('two', { append: true, last_chunk: true })];
    await rpc('SendMessage', { message: message({ shows, answer: 'Yes.' }), configuration });
    await hook.came(1);
    const task = hook.received[0]?.body['task'] as { artifacts: Artifact[] };
    expect(textsOf(task.artifacts)).toEqual(['Log: one two', 'Assistant Response: Yes.']);
  });

  test('is stored for each run of a task that got another message while it worked', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'a2a-'));
    const waits_for = join(folder, 'go');
    const configuration = { returnImmediately: true };
    const first = { message: message({ shows: [piece('one ')], waits_for }), configuration };
    const { id } = (await rpc('SendMessage', first)).result.task;
    const more = message({ shows: [piece('two', { append: true })], answer: 'Yes.' }, { taskId: id });
    await rpc('SendMessage', { message: more, configuration });
    await writeFile(waits_for, '');
    const state = async () => (await rpc('GetTask', { id })).result;
    await until('the task is done', async () => (await state()).status.state === 'TASK_STATE_COMPLETED');
    expect(textsOf((await state()).artifacts)).toEqual(['Log: one two', 'Assistant Response: Yes.']);
    await rm(folder, { recursive: true });
  });
});

describe('text that a model streams', () => {
  test('is an artifact of the task, even if the graph stores no message of it', async () => {
    const results = await streamed({ thinks: ['Let ', 'me ', 'see.'], answer: 'Yes.' });
    const pieces = results.flatMap(({ artifactUpdate }) => (artifactUpdate ? [artifactUpdate] : []));
    const told = new Map<string, string>();
    for (const { artifact, append } of pieces) {
      const text = artifact.parts.map((part) => part.text ?? '').join('');
      if (artifact.name !== 'Output')
        told.set(artifact.artifactId, append ? told.get(artifact.artifactId) + text : text);
    }
    const { tasks } = (await rpc('ListTasks', { pageSize: 1, includeArtifacts: true })).result;
    const kept = tasks[0].artifacts.filter(({ name }: Artifact) => name !== 'Output');
    expect(new Map(kept.map(({ artifactId, parts }: Artifact) => [artifactId, parts[0]?.text]))).toEqual(
      told,
    );
    expect(textsOf(kept)).toEqual(['Assistant Response: Let me see.', 'Assistant Response: Yes.']);
  });

  test('is stored once when a node repeats it in its own message', async () => {
    const { task } = await sent({ thinks: ['Y', 'es.'], answer: 'Yes.' }, 'echo');
    expect(textsOf(task.artifacts)).toEqual(['Assistant Response: Yes.']);
  });
});

test('a graph that pauses without a question continues with any message', async () => {
  const ask = rpcTo(server, 'pauses');
  const { task } = (await ask('SendMessage', { message: message('Hi') })).result;
  expect(task.status).toMatchObject({
    state: 'TASK_STATE_INPUT_REQUIRED',
    message: { parts: [{ text: 'Paused at a breakpoint. Any message resumes it.' }] },
  });
  const done = (await ask('SendMessage', { message: message('Go on', { taskId: task.id }) })).result.task;
  expect(done.status.state).toBe('TASK_STATE_COMPLETED');
  expect(textsOf(done.artifacts)).toEqual(['Assistant Response: Let me think.', 'Assistant Response: Done.']);
  const [first, , second] = done.history.map(({ parts }: Artifact) => parts[0]?.text);
  expect([first, second]).toEqual(['Hi', 'Go on']);
});

import { resolve } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import type { RunSteps, StepDetails } from '../../src/schemas/steps.ts';
import { openApp } from '../support/app.ts';

const folder = resolve(import.meta.dirname, '../fixtures/conversing-graphs');
const graphs = ['conversing', 'failing', 'large'];
const SECRET = 'a-configured-secret-word';
const environment = { AGENT_SERVER_RECORD: 'contents', AGENT_SERVER_API_KEYS: SECRET };
const KEY = { 'x-api-key': SECRET };
const http = await openApp({ graphs, folder, environment });
afterAll(() => http[Symbol.asyncDispose]());

type App = typeof http;

async function run(assistant_id: string, input: object, thread?: string, app: App = http, headers = KEY) {
  const thread_id = thread ?? ((await app.post('/threads', {}, headers)).body.thread_id as string);
  const body = { assistant_id, input };
  const answer = await app.post(`/threads/${thread_id}/runs/wait`, body, headers);
  const run_id = String(answer.headers['content-location']).split('/')[4] as string;
  const { steps } = (await app.get(`/runs/${run_id}/steps`, headers)).body as RunSteps;
  return { thread_id, run_id, steps };
}

type Ran = Awaited<ReturnType<typeof run>>;

/** The steps of one kind, with their contents. */
async function detailsOf({ run_id, steps }: Ran, kind: string, app: App = http): Promise<StepDetails[]> {
  const own = steps.filter((step) => step.kind === kind).sort((a, b) => a.number - b.number);
  return Promise.all(
    own.map(
      async (step) => (await app.get(`/runs/${run_id}/steps/${step.attempt}.${step.number}`, KEY)).body,
    ),
  );
}

const ask = (content: string) => ({ messages: [{ role: 'user', content }] });
const SYSTEM = { role: 'system', content: 'Be brief.' };

test('a model call has the messages, tools and parameters that were sent, and the answer', async () => {
  const [first, second] = await detailsOf(await run('conversing', ask('Tea?')), 'model');
  const call = {
    role: 'assistant',
    content: '',
    tool_calls: [{ id: 'call_1', name: 'search', args: { query: 'tea' } }],
  };
  expect(first?.contents).toMatchObject({
    messages: [SYSTEM, { role: 'user', content: 'Tea?' }],
    repeated: null,
    tools: [{ name: 'search', description: 'Searches the notes.' }],
    parameters: { model: 'tiny', temperature: 0.2, max_tokens: 50 },
    answer: [call],
  });
  const found = { role: 'tool', content: 'found tea', tool_call_id: 'call_1', name: 'search' };
  expect(second?.contents).toMatchObject({
    messages: [SYSTEM, { role: 'user', content: 'Tea?' }, call, found],
    repeated: 2,
    answer: [{ role: 'assistant', content: 'Tea it is.' }],
  });
  expect(JSON.stringify([first, second])).not.toMatch(/sk-a|of-the-provider|api_key|headers/);
});

test('a tool has its arguments and result, and a node its update and the checkpoint before', async () => {
  const ran = await run('conversing', ask('Tea?'));
  const [tool] = await detailsOf(ran, 'tool');
  expect(tool?.contents).toMatchObject({ input: { query: 'tea' }, output: 'found tea', messages: null });
  const nodes = await detailsOf(ran, 'node');
  const searched = nodes.find(({ name }) => name === 'tools');
  expect(searched?.contents?.output).toMatchObject({ messages: [{ type: 'tool', content: 'found tea' }] });
  const state = await http.get(`/threads/${ran.thread_id}/state/${searched?.checkpoint_id}`, KEY);
  expect(state.body.values.messages).toHaveLength(2);
});

test('a long result of a tool is read as it was from the tool, the node and the next call of the model', async () => {
  const query = 'tea, '.repeat(100).trim();
  const ran = await run('conversing', ask(`Search ${query}`));
  const [tool] = await detailsOf(ran, 'tool');
  const nodes = await detailsOf(ran, 'node');
  const [, second] = await detailsOf(ran, 'model');
  const content = `found ${query}`;
  expect(tool?.contents?.output).toBe(content);
  const searched = nodes.find(({ name }) => name === 'tools');
  expect(searched?.contents?.output).toMatchObject({ messages: [{ type: 'tool', content }] });
  expect(second?.contents?.messages?.at(-1)).toMatchObject({ role: 'tool', content });
});

test('the first call of a run repeats the messages of the last call of the run before', async () => {
  const before = await run('conversing', ask('Tea?'));
  const [first] = await detailsOf(await run('conversing', ask('And now?'), before.thread_id), 'model');
  expect(first?.contents?.messages).toHaveLength(6);
  expect(first?.contents?.repeated).toBe(4);
});

test('long values are cut in the middle, and secrets of the configuration are masked', async () => {
  const [filled] = await detailsOf(await run('large', { length: 10_000_000 }), 'node');
  const text = String(Object(filled?.contents?.output).text);
  expect(Buffer.byteLength(text)).toBeLessThan(64 * 1024);
  expect(text).toMatch(/^x+… \(cut, 10,000,000 characters in all\) x+$/);

  const [asked] = await detailsOf(await run('conversing', ask(`My key is ${SECRET}.`)), 'model');
  expect(asked?.contents?.messages?.[1]).toEqual({ role: 'user', content: 'My key is ***.' });
});

test('a failed step has its error, the cause, the frames of the project, and the source of the line', async () => {
  const ran = await run('failing', {});
  const [failed] = await detailsOf(ran, 'node');
  const [error, cause] = failed?.contents?.failure ?? [];
  expect([error?.error, cause?.error]).toEqual(['TypeError', 'SyntaxError']);
  expect(error?.message).not.toContain('secret-word');
  const own = error?.frames.find(({ is_own }) => is_own);
  expect(own).toMatchObject({ call: 'readOrder', path: 'failing.ts', line: 7, file: `${folder}/failing.ts` });
  expect(error?.code).toContain('> 7 |');
  const { error: listed } = ran.steps.find(({ status }) => status === 'error') ?? {};
  expect(JSON.stringify(listed)).not.toMatch(/failing\.ts|readOrder/);
});

test('a user of an application gets the error of a failed step alone, without causes, frames and source', async () => {
  const { body } = await http.post('/auth/tokens', { user: 'ana' }, KEY);
  const token = { authorization: `Bearer ${body.token}` };
  const { run_id, steps } = await run('failing', {}, undefined, http, token as never);
  const id = steps.map(({ attempt, number }) => `${attempt}.${number}`)[0];
  const failure = async (headers: object) =>
    (await http.get(`/runs/${run_id}/steps/${id}`, headers as never)).body.contents.failure;
  const [error, ...causes] = await failure(KEY);
  expect(causes).toHaveLength(1);
  expect(error.frames.length).toBeGreaterThan(0);
  const { error: name, message } = error;
  expect(await failure(token)).toEqual([{ error: name, message, frames: [], code: null }]);
});

test('a step that does not exist is 404, and a malformed id 422', async () => {
  const { run_id, thread_id } = await run('large', { length: 1 });
  for (const path of [`/runs/${run_id}/steps/1.99`, `/threads/${thread_id}/runs/${run_id}/steps/9.1`])
    expect((await http.get(path, KEY)).status).toBe(404);
  expect((await http.get(`/runs/${run_id}/steps/first`, KEY)).status).toBe(422);
});

test('another user gets 404 for a step of a thread that is not theirs', async () => {
  const auth = resolve(import.meta.dirname, '../fixtures/auth');
  const settings = { AGENT_SERVER_RECORD: 'contents' };
  await using app = await openApp({ graphs: ['echo'], folder: auth, environment: settings });
  const [ALICE, BOB] = ['alice', 'bob'].map((name) => ({ authorization: `Bearer ${name}-token` }));
  const { thread_id, run_id, steps } = await run('echo', ask('Mine.'), undefined, app, ALICE as never);
  const id = `${steps[0]?.attempt}.${steps[0]?.number}`;
  for (const path of [`/runs/${run_id}/steps/${id}`, `/threads/${thread_id}/runs/${run_id}/steps/${id}`]) {
    expect((await app.get(path, ALICE)).status).toBe(200);
    expect((await app.get(path, BOB)).status).toBe(404);
  }
});

test('with the level all, a step has no contents', async () => {
  await using app = await openApp({
    graphs,
    folder,
    environment: { ...environment, AGENT_SERVER_RECORD: 'all' },
  });
  const [call] = await detailsOf(await run('conversing', ask('Tea?'), undefined, app), 'model', app);
  expect(call).toMatchObject({ kind: 'model', contents: null });
});

test('in a graph host, steps have the same contents as without one', async () => {
  const contentsIn = async (hosts: string) => {
    const given = { ...environment, AGENT_SERVER_HOSTS: hosts };
    await using app = await openApp({ graphs, folder, environment: given });
    const ran = await run('conversing', ask('Tea?'), undefined, app);
    const steps = [...(await detailsOf(ran, 'model', app)), ...(await detailsOf(ran, 'tool', app))];
    const [failed] = await detailsOf(await run('failing', {}, undefined, app), 'node', app);
    const frame = failed?.contents?.failure?.[0]?.frames.find(({ is_own }) => is_own);
    // Each server has runs of its own.
    const contents = steps.map((step) => ({ ...step.contents, previous: step.contents?.previous?.step_id }));
    return [frame, ...contents];
  };
  expect(await contentsIn('1')).toEqual(await contentsIn('0'));
});

import { resolve } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { message, readTypes, rpcTo } from '../../support/a2a.ts';
import { openApp } from '../../support/app.ts';
import { askLegacy, askModern } from '../../support/mcp-messages.ts';

const folder = resolve(import.meta.dirname, '../../fixtures/auth');
const ALICE = { authorization: 'Bearer alice-token' };
const BOB = { authorization: 'Bearer bob-token' };
const GRAPH = 'chat-question';
const HELLO = { messages: [{ role: 'user', content: 'Hello' }] };

let server: Awaited<ReturnType<typeof openApp>>;

beforeAll(async () => {
  server = await openApp({ graphs: [GRAPH], folder, http: { openai: { enabled: true } } });
});

afterAll(() => server[Symbol.asyncDispose]());

/** What is on record of the thread: who answered what, and by its newest run. */
async function expectAnswer(thread_id: string, answer: unknown) {
  const [run] = (await server.get(`/threads/${thread_id}/runs`, ALICE)).body;
  const found = await server.post('/interrupts/answers/search', { thread_id }, ALICE);
  expect(found.body).toMatchObject([
    { thread_id, run_id: run.run_id, user_id: 'alice', value: { question: 'What is your name?' }, answer },
  ]);
  expect((await server.post('/interrupts/answers/search', { thread_id }, BOB)).body).toEqual([]);
}

/** A thread that waits for an answer. */
async function asked(): Promise<string> {
  const { thread_id } = (await server.post('/threads', {}, ALICE)).body;
  const body = { assistant_id: GRAPH, input: HELLO };
  await server.post(`/threads/${thread_id}/runs/wait`, body, ALICE);
  return thread_id;
}

test('an A2A message to a waiting task is recorded as the answer to its interrupt', async () => {
  await readTypes(server, GRAPH);
  const rpc = rpcTo(server, GRAPH);
  const { result } = await rpc('SendMessage', { message: message('Hello') }, ALICE);
  const { id: taskId, contextId, status } = result.task;
  expect(status.state).toBe('TASK_STATE_INPUT_REQUIRED');
  await rpc('SendMessage', { message: message('Ann', { taskId }) }, ALICE);
  await expectAnswer(contextId, 'Ann');
});

test('the response to an MCP elicitation is recorded as the answer to the interrupt', async () => {
  const thread_id = (await server.post('/threads', {}, ALICE)).body.thread_id;
  const said = { capabilities: { elicitation: { form: {} } }, headers: ALICE };
  const call = { name: GRAPH, arguments: HELLO, _meta: { thread_id } };
  const { result } = await askModern(server, 'tools/call', call, said);
  const { requestState, inputRequests } = result;
  const [key = ''] = Object.keys(inputRequests);
  const inputResponses = { [key]: { action: 'accept', content: { response: 'Ann' } } };
  await askModern(server, 'tools/call', { ...call, inputResponses, requestState }, said);
  await expectAnswer(thread_id, 'Ann');
});

test('the argument `resume` of an MCP tool is recorded as the answer to the interrupt', async () => {
  const thread_id = await asked();
  const call = { name: GRAPH, arguments: { resume: 'Ann' }, _meta: { thread_id } };
  await askLegacy(server, 'tools/call', call, ALICE);
  await expectAnswer(thread_id, 'Ann');
});

test('a chat completion on an interrupted thread is recorded as the answer to the interrupt', async () => {
  const thread_id = await asked();
  const body = { model: GRAPH, messages: [{ role: 'user', content: 'Ann' }] };
  await server.post('/v1/chat/completions', body, { ...ALICE, 'x-thread-id': thread_id });
  await expectAnswer(thread_id, 'Ann');
});

test('an answer over event streaming is recorded', async () => {
  const thread_id = await asked();
  const [{ interrupt_id }] = (await server.post('/interrupts/search', { thread_id }, ALICE)).body;
  const params = { namespace: [], interrupt_id, response: 'Ann' };
  await server.post(`/threads/${thread_id}/commands`, { id: 1, method: 'input.respond', params }, ALICE);
  await expectAnswer(thread_id, 'Ann');
});

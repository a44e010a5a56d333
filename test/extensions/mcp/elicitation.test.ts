import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { invalidArguments } from '../../../src/extensions/mcp/http/arguments.ts';
import { ANY_SCHEMAS } from '../../../src/extensions/mcp/tool-schemas.ts';
import { openApp } from '../../support/app.ts';
import { askLegacy, askModern } from '../../support/mcp-messages.ts';
import { type Project, project } from '../../support/project.ts';
import { until } from '../../support/until.ts';

const GRAPH = `
import { watch, existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { END, interrupt, START, StateGraph } from '@langchain/langgraph';
import { z } from 'zod';
async function opened(file, signal) {
  const changes = watch(dirname(file));
  try {
    await new Promise((open, stop) => {
      const look = () => existsSync(file) && open();
      changes.on('change', look);
      signal?.addEventListener('abort', () => stop(signal.reason));
      look();
    });
  } finally {
    changes.close();
  }
}
const State = z.object({ ask: z.any(), then: z.any().optional(), said: z.any().optional() });
export const graph = new StateGraph(State)
  .addNode('question', ({ ask, then }) => ({ said: [interrupt(ask), ...(then ? [interrupt(then)] : [])].at(-1) }))
  .addNode('wait', async ({ ask }, { signal }) => {
    const file = ask?.waits_for;
    if (file) await opened(file, signal);
    return {};
  })
  .addEdge(START, 'question')
  .addEdge('question', 'wait')
  .addEdge('wait', END)
  .compile();
`;
const CAN = { capabilities: { elicitation: { form: {}, url: {} } } };
const FORM = { type: 'object', properties: { size: { type: 'integer' } }, required: ['size'] };

let files: Project;
let server: Awaited<ReturnType<typeof openApp>>;

beforeAll(async () => {
  files = await project({ 'agent.config.yaml': 'graphs: { asks: ./graph.ts:graph }\n', 'graph.ts': GRAPH });
  const one_process = 'a test counts the connections of its server';
  server = await openApp({ graphs: ['asks'], folder: files.root, one_process });
});

afterAll(async () => {
  await server?.[Symbol.asyncDispose]();
  await files?.[Symbol.asyncDispose]();
});

const call = (ask: unknown, more: object = {}, said: Parameters<typeof askModern>[3] = CAN) =>
  askModern(server, 'tools/call', { name: 'asks', arguments: { ask }, ...more }, said);

/** The only question of a result, and the name that it is answered by. */
function questionIn(result: { inputRequests: Record<string, { method: string; params: object }> }) {
  const [[key, request] = [], ...more] = Object.entries(result.inputRequests);
  expect(more).toEqual([]);
  return { key: key as string, ...request };
}

test('an MCP elicitation has the form of the interrupt, and its content is the answer', async () => {
  const ask = { question: 'How big?', schema: FORM };
  const { result } = await call(ask);
  expect(result.resultType).toBe('input_required');
  const { key, method, params } = questionIn(result);
  expect([method, params]).toEqual([
    'elicitation/create',
    expect.objectContaining({ message: 'How big?', requestedSchema: FORM }),
  ]);
  const inputResponses = { [key]: { action: 'accept', content: { size: 3 } }, other: { action: 'accept' } };
  const { requestState } = result;
  const answered = await call(ask, { inputResponses, requestState });
  expect(answered.result.structuredContent.said).toEqual({ size: 3 });
  // Once answered, it waits no more.
  expect((await call(ask, { inputResponses, requestState })).error.code).toBe(-32602);
});

test('a missing elicitation response is requested again, and a declined one is an answer', async () => {
  const { result } = await call('Really?');
  const { key } = questionIn(result);
  const { requestState } = result;
  const again = await call('Really?', { inputResponses: { wrong: { action: 'accept' } }, requestState });
  expect(questionIn(again.result).key).toBe(key);
  const inputResponses = { [key]: { action: 'decline' } };
  const refused = await call('Really?', { inputResponses, requestState: again.result.requestState });
  expect(refused.result.structuredContent.said).toEqual({ action: 'decline' });
});

test('an MCP client that disconnects after its answer cancels neither the run nor its thread', async () => {
  const { url } = await server.app.listen();
  const { result } = await call({ waits_for: join(files.root, 'open') });
  const { key } = questionIn(result);
  const waiting: { thread_id: string; value: object }[] = (await server.post('/interrupts/search', {})).body;
  const { thread_id } = waiting.find(({ value }) => 'waits_for' in value) ?? {};
  const gone = new AbortController();
  const message = {
    name: 'asks',
    arguments: {},
    inputResponses: { [key]: { action: 'accept', content: { response: 'yes' } } },
    requestState: result.requestState,
  };
  const leaving = {
    async post(path: string, body: unknown, headers: Record<string, string> = {}): Promise<never> {
      const json = {
        ...headers,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
      };
      const init = { method: 'POST', body: JSON.stringify(body), headers: json, signal: gone.signal };
      throw await fetch(new URL(path, url), init).catch((error: unknown) => error);
    },
  };
  const left = expect(askModern(leaving, 'tools/call', message, CAN)).rejects.toThrow('aborted');
  const status = async () => (await server.get(`/threads/${thread_id}/runs`)).body[0].status;
  await until('the answer resumes the graph', async () => (await status()) === 'running');
  gone.abort();
  await left;
  const connected = () =>
    new Promise((found) => server.app.server.server.getConnections((_, count) => found(count)));
  await until('the connection is gone', async () => (await connected()) === 0);
  await writeFile(join(files.root, 'open'), '');
  await until('its run ends', async () => (await status()) === 'success');
  const thread = (await server.get(`/threads/${thread_id}?include=ttl`)).body;
  expect(thread).toMatchObject({ status: 'idle', values: { said: 'yes' }, ttl: { strategy: 'delete' } });
});

test('an MCP client cannot change the state that it carries from elicitation to response', async () => {
  const { result } = await call('Really?');
  const inputResponses = { [questionIn(result).key]: { action: 'accept', content: { response: 'yes' } } };
  const requestState = result.requestState.replace(/.$/, (last: string) => (last === 'A' ? 'B' : 'A'));
  expect((await call('Really?', { inputResponses, requestState: `x${requestState}` })).error.code).toBe(
    -32602,
  );
});

test('an elicitation by URL is sent if the client supports it, otherwise the URL is in the text', async () => {
  const ask = { type: 'auth_required', url: 'https://login.example/go', message: 'Log in first' };
  const { result } = await call(ask);
  expect(questionIn(result)).toMatchObject({
    method: 'elicitation/create',
    params: { mode: 'url', url: 'https://login.example/go', message: 'Log in first' },
  });
  const forms = await call(ask, {}, { capabilities: { elicitation: { form: {} } } });
  expect(forms.result).toMatchObject({
    content: [{ text: 'Log in first' }],
    structuredContent: { __interrupt__: [{ value: ask }] },
  });
  expect(forms.result.resultType).not.toBe('input_required');
});

test('a question that an MCP client cannot fill in after another is answered on the thread of the call', async () => {
  const then = { type: 'auth_required', url: 'https://login.example/go', message: 'Log in first' };
  const forms = { capabilities: { elicitation: { form: {} } } };
  const { result } = await call('Really?', { arguments: { ask: 'Really?', then } }, forms);
  const inputResponses = { [questionIn(result).key]: { action: 'accept', content: { response: 'yes' } } };
  const next = await call('Really?', { inputResponses, requestState: result.requestState }, forms);
  expect(next.result.structuredContent.__interrupt__).toMatchObject([{ value: then }]);
  const meta = { _meta: { thread_id: next.result._meta.thread_id } };
  const last = await call('', { ...meta, arguments: { resume: 'logged in' } }, forms);
  expect(last.result.structuredContent).toMatchObject({ said: 'logged in' });
});

test('the questions of an interrupted call conform to the output schema of its tool', async () => {
  const { tools } = (await askLegacy(server, 'tools/list')).result;
  const { outputSchema } = tools.find(({ name }: { name: string }) => name === 'asks');
  const { result } = await askLegacy(server, 'tools/call', { name: 'asks', arguments: { ask: 'Really?' } });
  expect(result.structuredContent.__interrupt__).toHaveLength(1);
  expect(
    invalidArguments({ ...ANY_SCHEMAS, accepted: outputSchema }, result.structuredContent),
  ).toBeUndefined();
});

import { afterAll, beforeAll, expect, test } from 'vitest';
import { openApp } from '../support/app.ts';
import { askModern } from '../support/mcp-messages.ts';
import { type Project, project } from '../support/project.ts';

const GRAPH = `
import { END, interrupt, START, StateGraph } from '@langchain/langgraph';
import { z } from 'zod';
const State = z.object({ ask: z.any(), said: z.any().optional() });
export const graph = new StateGraph(State)
  .addNode('question', ({ ask }) => ({ said: interrupt(ask) }))
  .addEdge(START, 'question')
  .addEdge('question', END)
  .compile();
`;
const CAN = { capabilities: { elicitation: { form: {}, url: {} } } };
const FORM = { type: 'object', properties: { size: { type: 'integer' } }, required: ['size'] };

let files: Project;
let server: Awaited<ReturnType<typeof openApp>>;

beforeAll(async () => {
  files = await project({ 'agent.config.yaml': 'graphs: { asks: ./graph.ts:graph }\n', 'graph.ts': GRAPH });
  server = await openApp({ graphs: ['asks'], folder: files.root });
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

test('the form is what the interrupt says, and what is filled in is the answer', async () => {
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

test('an answer that is missing is asked for again; a refusal is an answer', async () => {
  const { result } = await call('Really?');
  const { key } = questionIn(result);
  const { requestState } = result;
  const again = await call('Really?', { inputResponses: { wrong: { action: 'accept' } }, requestState });
  expect(questionIn(again.result).key).toBe(key);
  const inputResponses = { [key]: { action: 'decline' } };
  const refused = await call('Really?', { inputResponses, requestState: again.result.requestState });
  expect(refused.result.structuredContent.said).toEqual({ action: 'decline' });
});

test('what a client carries from question to answer cannot be changed', async () => {
  const { result } = await call('Really?');
  const inputResponses = { [questionIn(result).key]: { action: 'accept', content: { response: 'yes' } } };
  const requestState = result.requestState.replace(/.$/, (last: string) => (last === 'A' ? 'B' : 'A'));
  expect((await call('Really?', { inputResponses, requestState: `x${requestState}` })).error.code).toBe(
    -32602,
  );
});

test('a user is sent to a URL if the client supports that, otherwise the URL is in the text', async () => {
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

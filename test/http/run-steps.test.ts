import { resolve } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import type { RunSteps, Step } from '../../src/schemas/steps.ts';
import { openApp } from '../support/app.ts';

const folder = resolve(import.meta.dirname, '../fixtures/recorded-graphs');
const http = await openApp({
  graphs: ['recorded', 'functional', 'asking', 'passing', 'waiting', 'remembering'],
  folder,
});
afterAll(() => http[Symbol.asyncDispose]());

/** Executes a run to its end, and returns what was recorded of it. */
async function record(
  body: object,
  thread_id?: string,
  app: typeof http = http,
): Promise<RunSteps & { thread_id: string }> {
  const thread = thread_id ?? (await app.thread());
  const { headers } = await app.post(`/threads/${thread}/runs/wait`, { assistant_id: 'recorded', ...body });
  const run_id = String(headers['content-location']).split('/')[4];
  const { body: json } = await app.get(`/runs/${run_id}/steps`);
  return { ...(json as RunSteps), thread_id: thread };
}

/** Steps as a tree: `kind name outcome`, those within indented. */
function outline(steps: readonly Step[], parent: number | null = null, indent = ''): string[] {
  return steps
    .filter((step) => step.parent === parent)
    .sort((a, b) => a.number - b.number)
    .flatMap(({ number, kind, name, status }) => [
      `${indent}${kind} ${name} ${status}`,
      ...outline(steps, number, `${indent}  `),
    ]);
}

test('the steps of a run include each node and each call of a model or a tool', async () => {
  const { run_id, trace_id, attempts, steps, next } = await record({ input: { ask: false } });
  expect(outline(steps)).toEqual([
    'node plan success',
    '  model CountingModel success',
    '  tool search success',
    '  model CountingModel success',
    'node child success',
    '  node work success',
    '    model CountingModel success',
    'node calls success',
    '  node work success',
    '    model CountingModel success',
    'node flaky error',
    'node flaky success',
    'node last success',
  ]);
  expect([trace_id, next]).toEqual([run_id.replaceAll('-', ''), null]);
  expect(attempts).toMatchObject([{ attempt: 1, status: 'success' }]);
  const [model] = steps.filter(({ kind }) => kind === 'model');
  expect(model).toMatchObject({ tokens_in: 7, tokens_cached: 2, tokens_out: 3, node: 'plan', superstep: 1 });
  const flaky = steps.find(({ status }) => status === 'error');
  expect(flaky?.error).toEqual({ error: 'Error', message: 'the first time' });
  expect(steps.find(({ name, parent }) => name === 'work' && parent !== null)?.namespace).toMatch(/^child:/);
});

test('steps of models and tools have their own names, even if a node passes its configuration on', async () => {
  const { steps } = await record({ assistant_id: 'passing', input: {} });
  expect(outline(steps)).toEqual([
    'node passes success',
    '  model CountingModel success',
    '  tool search success',
    '  model CountingModel success',
  ]);
});

test('the time of a step lies within its attempt, and that of a nested step within its parent', async () => {
  const { attempts, steps } = await record({ input: { ask: false } });
  const [attempt] = attempts;
  const byNumber = new Map(steps.map((step) => [step.number, step]));
  for (const step of steps) {
    const around = step.parent === null ? attempt : byNumber.get(step.parent);
    expect([step.name, step.started_at >= (around?.started_at ?? '~')]).toEqual([step.name, true]);
    expect([step.name, step.ended_at <= (around?.ended_at ?? '')]).toEqual([step.name, true]);
  }
  expect(new Set(steps.map(({ span_id }) => span_id)).size).toBe(steps.length);
});

test('a node that interrupts is a step with status interrupted, and continues in the next run', async () => {
  const asked = await record({ input: { ask: true } });
  expect(outline(asked.steps).at(-1)).toBe('node last interrupted');
  const answered = await record({ command: { resume: 'me' } }, asked.thread_id);
  expect(outline(answered.steps)).toEqual(['node last success']);
  const resumed = [asked, answered].map(({ attempts }) => attempts[0]?.resumed_from_run_id);
  expect(resumed).toEqual([null, asked.run_id]);
});

test('a run that answers an interrupt names the interrupted run, even at the same checkpoint', async () => {
  const first = await record({ assistant_id: 'asking', input: { ask: true } });
  const second = await record({ assistant_id: 'asking', command: { resume: 'a' } }, first.thread_id);
  const third = await record({ assistant_id: 'asking', command: { resume: 'b' } }, first.thread_id);
  const anew = await record({ assistant_id: 'asking', input: { ask: true } }, first.thread_id);
  const resumed = [first, second, third, anew].map(({ attempts }) => attempts[0]?.resumed_from_run_id);
  expect(resumed).toEqual([null, first.run_id, second.run_id, null]);
});

test('a run that continues after a breakpoint, or from an earlier checkpoint, names the run that stopped there', async () => {
  const stopped = await record({ input: { ask: false }, interrupt_before: ['last'] });
  const { thread_id } = stopped;
  const { body: state } = await http.get(`/threads/${thread_id}/state`);
  const gone_on = await record({ input: null }, thread_id);
  expect(gone_on.attempts).toMatchObject([{ resumed_from_run_id: stopped.run_id }]);
  const again = await record({ input: null, checkpoint: state.checkpoint }, thread_id);
  expect(again.attempts).toMatchObject([{ resumed_from_run_id: stopped.run_id }]);
});

test('a run on a copied thread does not name a run of the original as resumed', async () => {
  const asked = await record({ input: { ask: true } });
  const { body: copy } = await http.post(`/threads/${asked.thread_id}/copy`, {});
  const answered = await record({ command: { resume: 'me' } }, copy.thread_id);
  expect(answered.attempts).toMatchObject([{ status: 'success', resumed_from_run_id: null }]);
});

test('the steps of an executing run include the current ones', async () => {
  const thread_id = await http.thread();
  const { body: run } = await http.post(`/threads/${thread_id}/runs`, { assistant_id: 'waiting', input: {} });
  const read = async () => (await http.get(`/runs/${run.run_id}/steps`)).body as RunSteps;
  const nowOf = ({ current }: RunSteps) => current?.map((step) => `${step.kind} ${step.name} ${step.status}`);
  await expect
    .poll(async () => nowOf(await read()))
    .toEqual(['node second running', 'model CountingModel success']);

  const executing = await read();
  expect(outline(executing.steps)).toEqual(['node first success']);
  expect(executing.attempts).toMatchObject([{ status: 'running', ended_at: null }]);
  expect(executing.current).toMatchObject([
    { attempt: 1, number: 2, parent: null, ended_at: null, tokens_in: null },
    { attempt: 1, number: 3, parent: 2, ended_at: expect.any(String), tokens_in: 7 },
  ]);
  await http.post(`/threads/${thread_id}/runs/${run.run_id}/cancel?wait=true`, {});
  const ended = await read();
  expect(outline(ended.steps)).toEqual([
    'node first success',
    'node second cancelled',
    '  model CountingModel success',
  ]);
  expect([ended.current, ended.steps[1]?.span_id]).toEqual([[], executing.current?.[0]?.span_id]);
});

test('the step of a node that throws has its error', async () => {
  const { steps, attempts } = await record({ input: { fail: true } });
  expect(steps.at(-1)).toMatchObject({ name: 'last', error: { error: 'TypeError', message: 'it fails' } });
  expect(attempts).toMatchObject([{ status: 'error' }]);
});

test('tasks of the functional API are steps', async () => {
  const { steps } = await record({ assistant_id: 'functional', input: 1 });
  expect(outline(steps)).toEqual([
    'node functional success',
    '  node outer success',
    '    model CountingModel success',
    '    node inner success',
  ]);
});

test.each(['values', 'messages', 'tasks', 'debug', 'events'])(
  'the same steps are recorded with stream mode %s',
  async (stream_mode) => {
    const usual = await record({ input: { ask: false } });
    const { steps } = await record({ input: { ask: false }, stream_mode });
    expect(outline(steps)).toEqual(outline(usual.steps));
  },
);

test('pages of steps continue after the previous one', async () => {
  const { run_id, steps } = await record({ input: { ask: false } });
  const numbers: number[] = [];
  for (let after = ''; ; ) {
    const { body: json } = await http.get(`/runs/${run_id}/steps?limit=5${after && `&after=${after}`}`);
    const page = json as RunSteps;
    numbers.push(...page.steps.map(({ number }) => number));
    if (page.next === null) break;
    after = page.next;
  }
  expect(numbers).toEqual(steps.map(({ number }) => number));
});

test('the steps of a missing run are 404', async () => {
  const { status, body: json } = await http.get('/runs/00000000-0000-0000-0000-000000000000/steps');
  expect([status, json]).toEqual([404, { detail: 'Run not found' }]);
});

test('recording of models and tools can be disabled', async () => {
  await using nodes = await openApp({ graphs: ['recorded'], folder, runs: { record: 'nodes' } });
  const { steps } = await record({ input: { ask: false } }, undefined, nodes);
  expect(new Set(steps.map(({ kind }) => kind))).toEqual(new Set(['node']));
  expect(steps.map(({ name }) => name)).toEqual([
    'plan',
    'child',
    'work',
    'calls',
    'work',
    'flaky',
    'flaky',
    'last',
  ]);
});

test('recording of all steps can be disabled', async () => {
  await using nothing = await openApp({ graphs: ['recorded'], folder, runs: { record: 'off' } });
  const recorded = await record({ input: { ask: false } }, undefined, nothing);
  expect([recorded.steps, recorded.attempts]).toEqual([[], []]);
});

test('retrievers and calls of the long-term store are steps of their node', async () => {
  const { steps } = await record({ assistant_id: 'remembering', input: { query: 'tea' } });
  expect(outline(steps)).toEqual([
    'node recalls success',
    '  retriever Library success',
    '  store put success',
    '  store search success',
    '  store get success',
    '  store delete success',
    'node child success',
    '  node deep success',
    '    store put success',
    'node refused success',
    '  store put error',
  ]);
  expect(steps[1]).toMatchObject({ node: 'recalls', provider: 'shelves', tokens_in: null, cost: null });
  expect(JSON.stringify(steps)).not.toMatch(/alice|marmalade/);
});

test('concurrent calls of the long-term store are one step', async () => {
  const { steps } = await record({ assistant_id: 'remembering', input: { query: 'tea', puts: 300 } });
  expect(outline(steps).slice(0, 7)).toEqual([
    'node recalls success',
    '  retriever Library success',
    '  store put success',
    '  store search success',
    '  store get success',
    '  store delete success',
    '  store put success',
  ]);
});

test('the step of a failing retriever has its error', async () => {
  const { steps } = await record({ assistant_id: 'remembering', input: { query: 'fail' } });
  expect(steps.map(({ kind, status, error }) => [kind, status, error?.error])).toEqual([
    ['node', 'error', 'RangeError'],
    ['retriever', 'error', 'RangeError'],
  ]);
});

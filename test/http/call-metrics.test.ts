import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import type { RunSteps } from '../../src/schemas/steps.ts';
import { openApp } from '../support/app.ts';
import { samplesOf, sampleValue } from '../support/metric-samples.ts';

const fixtures = resolve(import.meta.dirname, '../fixtures');

/** A server after a run of an assistant of this graph, what was recorded of the run, and the metrics. */
async function afterRun(graph_id: string, project: string, input: object, runs: object = {}) {
  await using http = await openApp({ graphs: [graph_id], folder: resolve(fixtures, project), runs });
  const { assistant_id } = (await http.post('/assistants', { graph_id })).body;
  const thread_id = await http.thread();
  const { headers } = await http.post(`/threads/${thread_id}/runs/wait`, { assistant_id, input });
  const run_id = String(headers['content-location']).split('/').at(-1);
  const { steps } = (await http.get(`/runs/${run_id}/steps`)).body as RunSteps;
  const { text } = await http.get('/metrics');
  return { assistant_id, steps, text };
}

const recorded = (runs: object = {}) => afterRun('recorded', 'recorded-graphs', { ask: false }, runs);
const sum = (numbers: readonly (number | null)[]) =>
  numbers.reduce<number>((all, each) => all + (each ?? 0), 0);

test('metrics of the tokens of an assistant equal those of its recorded steps', async () => {
  const { assistant_id, steps, text } = await recorded();
  const counted = (type: string) =>
    sampleValue(
      text,
      'agent_server_tokens_total',
      `assistant="${assistant_id}",graph="recorded",type="${type}"`,
    );
  expect(counted('input')).toBe(sum(steps.map(({ tokens_in }) => tokens_in)));
  expect(counted('output')).toBe(sum(steps.map(({ tokens_out }) => tokens_out)));
  expect(counted('input')).toBeGreaterThan(0);
});

test('calls of models and tools have metrics with the names of the GenAI conventions', async () => {
  const { steps, text } = await recorded();
  const models = steps.filter(({ kind }) => kind === 'model');
  const [call] = models;
  const of = `gen_ai_provider_name="${call?.provider ?? ''}",gen_ai_request_model="${call?.model ?? ''}"`;
  const ms = models.map((step) => Date.parse(step.ended_at) - Date.parse(step.started_at));
  const value = (name: string, labels: string) => sampleValue(text, name, labels);
  expect(value('gen_ai_client_operation_duration_seconds_count', of)).toBe(models.length);
  expect(value('gen_ai_client_operation_duration_seconds_sum', of)).toBeCloseTo(sum(ms) / 1000, 9);
  expect(value('gen_ai_client_token_usage_sum', `${of},gen_ai_token_type="input"`)).toBe(7 * models.length);
  expect(value('gen_ai_execute_tool_duration_seconds_count', 'gen_ai_tool_name="search"')).toBe(1);
});

test('steps that are not recorded have no call metrics', async () => {
  const { text } = await recorded({ record: 'nodes' });
  const names = new Set(samplesOf(text).map(({ name }) => name));
  expect([...names].filter((name) => /^gen_ai_.*_count$|agent_server_(tokens|cost)_/.test(name))).toEqual([]);
});

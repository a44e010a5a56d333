import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import type { Assistant } from '../../../src/schemas/assistants.ts';
import type { RunSteps } from '../../../src/schemas/steps.ts';
import { collector } from '../../support/collector.ts';
import { type HttpClient, httpClient } from '../../support/http-client.ts';
import { joinRun, startRun } from '../../support/remote-runs.ts';
import { startServer } from '../../support/server.ts';
import { until } from '../../support/until.ts';

const config = resolve(import.meta.dirname, '../../chaos/agent.config.yaml');

const COUNTER = { 'gen_ai.agent.name': 'Counter', 'gen_ai.agent.version': '1' };

async function createAssistant(http: HttpClient, name: string): Promise<string> {
  const { assistant_id } = await http.call<Assistant>('POST', '/assistants', { graph_id: 'ten-steps', name });
  return assistant_id;
}

test('a run whose server is killed has one trace, equal to its recorded steps', async () => {
  await using sink = await collector();
  // The killed server sends nothing: who continues the run sends what it had committed.
  const env = { OTEL_EXPORTER_OTLP_ENDPOINT: sink.url, OTEL_BSP_SCHEDULE_DELAY: '3000000' };
  await using server = await startServer({ config, env });
  using http = httpClient(server.url);
  const assistant_id = await createAssistant(http, 'Counter');
  const run = await startRun(http, {
    assistant_id,
    input: { n: 0 },
    config: { configurable: { step_ms: 1_000 } },
  });
  await http.call('PATCH', `/assistants/${assistant_id}`, { name: 'Later' });
  const recorded = () => http.call<RunSteps>('GET', `/runs/${run.run_id}/steps`);
  await until('four steps are stored', async () => (await recorded()).steps.length >= 4);
  await server.kill('SIGKILL');
  expect(sink.spans).toEqual([]);
  await server.restart();
  await joinRun(http, run);
  const { trace_id, attempts, steps } = await recorded();
  await server.kill('SIGTERM');

  const trace = await sink.trace(trace_id, 1 + attempts.length + steps.length);
  expect(attempts.map(({ status }) => status)).toEqual(['lost', 'success']);
  expect(new Set(steps.map(({ attempt }) => attempt))).toEqual(new Set([1, 2]));
  expect(trace.size).toBe(1 + attempts.length + steps.length);
  const root = [...trace.values()].find(({ parent_id }) => parent_id === '');
  expect([root?.name, root?.attributes]).toMatchObject(['invoke_agent Counter', COUNTER]);
  for (const step of steps) {
    const span = trace.get(step.span_id);
    const times = [Date.parse(step.started_at), Date.parse(step.ended_at)];
    expect([span?.name, span?.started, span?.ended]).toEqual([`node ${step.name}`, ...times]);
    expect(span?.parent_id).toBe(attempts[step.attempt - 1]?.span_id);
  }
  const [lost, second] = attempts.map(({ span_id }) => trace.get(span_id));
  expect(lost?.attributes).toMatchObject({ 'agent_server.run.attempt.status': 'lost', 'error.type': 'lost' });
  expect(lost?.ended).toBe(
    Math.max(...steps.filter(({ attempt }) => attempt === 1).map((step) => Date.parse(step.ended_at))),
  );
  expect(second?.links).toEqual([{ trace_id, span_id: lost?.span_id }]);
});

test('a run that crashes its server too often has a trace that ends with it', async () => {
  await using sink = await collector();
  const env = {
    OTEL_EXPORTER_OTLP_ENDPOINT: sink.url,
    OTEL_BSP_SCHEDULE_DELAY: '10',
    BG_JOB_MAX_RETRIES: '1',
  };
  await using server = await startServer({ config, env });
  using http = httpClient(server.url);
  // It is killed in its first step: a run that makes progress is retried.
  const run = await startRun(http, {
    assistant_id: await createAssistant(http, 'Counter'),
    input: { n: 0 },
    config: { configurable: { step_ms: 20_000 } },
  });
  const recorded = () => http.call<RunSteps>('GET', `/runs/${run.run_id}/steps`);
  await until('the attempt is stored', async () => (await recorded()).attempts.length === 1);
  await server.kill('SIGKILL');
  await server.restart();
  const { trace_id, attempts, steps } = await recorded();

  const trace = await sink.trace(trace_id, 1 + attempts.length + steps.length);
  const root = [...trace.values()].find(({ parent_id }) => parent_id === '');
  expect(root?.attributes).toMatchObject({ ...COUNTER, 'agent_server.run.status': 'error' });
  expect(attempts.map(({ span_id }) => trace.get(span_id)?.status)).toEqual([2]);
});

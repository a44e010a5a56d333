import { resolve } from 'node:path';
import { afterAll, afterEach, expect, test, vi } from 'vitest';
import type { RunSteps } from '../../../src/schemas/steps.ts';
import { openApp } from '../../support/app.ts';
import { collector } from '../../support/collector.ts';
import type { ReceivedSpan } from '../../support/otlp.ts';
import { until } from '../../support/until.ts';

const folder = resolve(import.meta.dirname, '../../fixtures/recorded-graphs');
const sink = await collector();
afterAll(() => sink[Symbol.asyncDispose]());
afterEach(() => vi.unstubAllEnvs());

/** Sets the variables with which a server sends traces to the collector. */
function sending(environment: Readonly<Record<string, string>> = {}): void {
  const variables = { OTEL_EXPORTER_OTLP_ENDPOINT: sink.url, OTEL_BSP_SCHEDULE_DELAY: '10', ...environment };
  for (const [name, value] of Object.entries(variables)) vi.stubEnv(name, value);
}

/** Executes a run in a server that sends traces with these variables, and returns its steps and its spans by id. */
async function traced(
  { input = { ask: false }, runs = {} }: { input?: object; runs?: object },
  environment: Readonly<Record<string, string>> = {},
) {
  sending(environment);
  await using http = await openApp({ graphs: ['recorded'], folder, runs });
  const thread_id = await http.thread();
  const { headers } = await http.post(`/threads/${thread_id}/runs/wait`, { assistant_id: 'recorded', input });
  const run_id = String(headers['content-location']).split('/').at(-1) ?? '';
  const { body: json } = await http.get(`/runs/${run_id}/steps`);
  const { body: run } = await http.get(`/threads/${thread_id}/runs/${run_id}`);
  const steps = json as RunSteps;
  const trace = await sink.trace(steps.trace_id, 1 + Math.max(1, steps.attempts.length) + steps.steps.length);
  await until('the metrics count the spans', async () => {
    const { text } = await http.get('/metrics');
    return text.includes(`agent_server_spans_sent_total ${trace.size}`);
  });
  return { ...steps, run, thread_id, trace, named: (name: string) => named(trace, name) };
}

function named(trace: Map<string, ReceivedSpan>, name: string): ReceivedSpan {
  const span = [...trace.values()].find((each) => each.name === name);
  if (!span) throw new Error(`no span ${name} among ${[...trace.values()].map((each) => each.name)}`);
  return span;
}

test.each(['http/protobuf', 'http/json'])(
  'spans by %s are the recorded steps, to the ms',
  async (protocol) => {
    const { steps, attempts, trace, trace_id, run } = await traced(
      {},
      { OTEL_EXPORTER_OTLP_PROTOCOL: protocol },
    );
    expect(trace.size).toBe(1 + attempts.length + steps.length);
    for (const step of [...steps, ...attempts]) {
      const span = trace.get(step.span_id);
      const times = [Date.parse(step.started_at), Date.parse(step.ended_at ?? '')];
      expect([span?.trace_id, span?.started, span?.ended]).toEqual([trace_id, ...times]);
    }
    for (const step of steps) {
      const parent = steps.find(({ number }) => number === step.parent) ?? attempts[0];
      expect(trace.get(step.span_id)?.parent_id).toBe(parent?.span_id);
    }
    const root = [...trace.values()].find(({ parent_id }) => parent_id === '');
    expect(trace.get(attempts[0]?.span_id ?? '')?.parent_id).toBe(root?.span_id);
    expect([root?.name, root?.started, root?.ended]).toEqual([
      'invoke_agent recorded',
      Date.parse(run.created_at),
      Date.parse(run.updated_at),
    ]);
  },
);

test('spans follow the GenAI conventions and carry no contents', async () => {
  const { named, thread_id, run, trace } = await traced({ input: { ask: false, secret: 'marmalade' } });
  expect(named('invoke_agent recorded').attributes).toMatchObject({
    'gen_ai.operation.name': 'invoke_agent',
    'gen_ai.agent.id': run.assistant_id,
    'gen_ai.agent.name': 'recorded',
    'gen_ai.agent.version': '1',
    'gen_ai.conversation.id': thread_id,
    'agent_server.run.id': run.run_id,
    'agent_server.run.status': 'success',
  });
  expect(named('invoke_workflow recorded').attributes).toMatchObject({
    'gen_ai.operation.name': 'invoke_workflow',
    'gen_ai.workflow.name': 'recorded',
    'agent_server.run.attempt': 1,
    'agent_server.run.queue_ms': expect.any(Number),
  });
  const model = [...trace.values()].find(({ name }) => name.startsWith('chat'));
  expect(model?.kind).toBe(3);
  expect(model?.attributes).toMatchObject({
    'gen_ai.operation.name': 'chat',
    'gen_ai.usage.input_tokens': 7,
    'gen_ai.usage.cache_read.input_tokens': 2,
    'gen_ai.usage.output_tokens': 3,
  });
  expect(named('execute_tool search').attributes).toMatchObject({ 'gen_ai.tool.name': 'search' });
  expect(named('node flaky').attributes).toMatchObject({ 'langgraph.node': 'flaky', 'langgraph.step': 4 });
  expect(JSON.stringify([...trace.values()])).not.toMatch(/marmalade|planned|found it/);
});

test('a planning node is a plan span of its agent, around the call of its model', async () => {
  const { named, trace, run } = await traced({});
  const plan = named('plan recorded');
  expect(plan.attributes).toMatchObject({
    'gen_ai.operation.name': 'plan',
    'gen_ai.agent.id': run.assistant_id,
    'gen_ai.agent.name': 'recorded',
    'langgraph.node': 'plan',
  });
  const within = [...trace.values()].filter(({ parent_id }) => parent_id === plan.span_id);
  expect(within.map(({ name }) => name)).toEqual(['chat', 'execute_tool search', 'chat']);
  expect([...trace.values()].filter(({ name }) => name.startsWith('plan'))).toHaveLength(1);
});

test.each(['gen_ai_latest_experimental', 'http/dup, gen_ai_latest_experimental'])(
  'the latest GenAI conventions name the agent of a workflow (%s)',
  async (chosen) => {
    const { named } = await traced({}, { OTEL_SEMCONV_STABILITY_OPT_IN: chosen });
    const { attributes } = named('invoke_workflow recorded');
    expect(attributes).toMatchObject({
      'gen_ai.operation.name': 'invoke_workflow',
      'gen_ai.agent.name': 'recorded',
    });
    expect(attributes).not.toHaveProperty('gen_ai.workflow.name');
  },
);

test('a failed run names the type of its error, not its message', async () => {
  const { named, trace } = await traced({ input: { fail: true } });
  for (const name of ['node last', 'invoke_agent recorded']) {
    expect([named(name).status, named(name).attributes['error.type']]).toEqual([2, 'TypeError']);
  }
  expect(JSON.stringify([...trace.values()])).not.toContain('it fails');
});

test('a run that is deleted with its thread at its end has all spans', async () => {
  sending();
  await using http = await openApp({ graphs: ['recorded'], folder });
  const { headers } = await http.post('/runs/wait', { assistant_id: 'recorded', input: { ask: false } });
  const run_id = String(headers['content-location']).split('/').at(-1) ?? '';
  const trace = await sink.trace(run_id.replaceAll('-', ''), 15);
  expect([named(trace, 'plan recorded'), named(trace, 'node last')]).toHaveLength(2);
});

test('a run that answers links to the run that asked', async () => {
  sending();
  await using http = await openApp({ graphs: ['recorded'], folder });
  const thread_id = await http.thread();
  const runOf = async (body: object, headers = {}) => {
    const call = { assistant_id: 'recorded', ...body };
    const { headers: answer } = await http.post(`/threads/${thread_id}/runs/wait`, call, headers);
    return String(answer['content-location']).split('/').at(-1) ?? '';
  };
  const trace_id = 'ab'.repeat(16);
  const asking = await runOf(
    { input: { ask: true } },
    { traceparent: `00-${trace_id}-${'cd'.repeat(8)}-01` },
  );
  const answering = await runOf({ command: { resume: 'me' } });
  const asked = named(await sink.trace(trace_id, 15), 'invoke_agent recorded');
  const trace = await sink.trace(answering.replaceAll('-', ''), 3);
  const attempt = named(trace, 'invoke_workflow recorded');
  expect(attempt.links).toEqual([{ trace_id, span_id: asked.span_id }]);
  expect(attempt.attributes['agent_server.run.resumed_from']).toBe(asking);
});

test('a run without recorded steps has spans of itself and its attempt', async () => {
  const { trace } = await traced({ runs: { record: 'off' } });
  expect([...trace.values()].map(({ name }) => name).sort()).toEqual([
    'invoke_agent recorded',
    'invoke_workflow recorded',
  ]);
});

test('resource attributes and headers of traces come from the environment', async () => {
  const { named } = await traced(
    {},
    {
      OTEL_SERVICE_NAME: 'my-agents',
      OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=staging,team=a%20b',
      OTEL_EXPORTER_OTLP_HEADERS: 'x-key=secret',
    },
  );
  expect(named('invoke_agent recorded').resource).toMatchObject({
    'service.name': 'my-agents',
    'deployment.environment.name': 'staging',
    team: 'a b',
  });
  expect(sink.requests.at(-1)).toMatchObject({ path: '/v1/traces', headers: { 'x-key': 'secret' } });
});

test.each([
  ['0', 0],
  ['1', 15],
])('with a sampling ratio of %s, the expected share of traces is sent', async (ratio, count) => {
  sending({ OTEL_TRACES_SAMPLER: 'parentbased_traceidratio', OTEL_TRACES_SAMPLER_ARG: ratio });
  const before = sink.spans.length;
  {
    await using http = await openApp({ graphs: ['recorded'], folder });
    await http.post('/runs/wait', { assistant_id: 'recorded', input: { ask: false } });
  }
  expect(sink.spans.length - before).toBe(count);
});

test('the span of a run names the assistant as it was when the run was created', async () => {
  sending();
  await using http = await openApp({ graphs: ['recorded'], folder });
  const { body: assistant } = await http.post('/assistants', { graph_id: 'recorded', name: 'Helper' });
  const { assistant_id } = assistant;
  await http.patch(`/assistants/${assistant_id}`, { name: 'Second helper' });
  const thread_id = await http.thread();
  const { body: run } = await http.post(`/threads/${thread_id}/runs`, {
    ...{ assistant_id, input: { ask: false }, after_seconds: 1 },
  });
  await http.patch(`/assistants/${assistant_id}`, { name: 'Third helper' });
  const { body: joined } = await http.get(`/threads/${thread_id}/runs/${run.run_id}/join`);
  expect(joined.log).toHaveLength(5);

  const trace = await sink.trace(run.run_id.replaceAll('-', ''), 15);
  expect(named(trace, 'invoke_agent Second helper').attributes).toEqual({
    'gen_ai.operation.name': 'invoke_agent',
    'gen_ai.agent.id': assistant_id,
    'gen_ai.agent.name': 'Second helper',
    'gen_ai.agent.version': '2',
    'gen_ai.conversation.id': thread_id,
    'session.id': thread_id,
    'langsmith.metadata.thread_id': thread_id,
    'openinference.span.kind': 'AGENT',
    'langsmith.span.kind': 'chain',
    'agent_server.graph.id': 'recorded',
    'agent_server.run.id': run.run_id,
    'agent_server.run.status': 'success',
  });
});

test('spans of retrievers and of the long-term store follow the GenAI conventions', async () => {
  sending();
  await using http = await openApp({ graphs: ['remembering'], folder });
  const thread_id = await http.thread();
  const { headers } = await http.post(`/threads/${thread_id}/runs/wait`, {
    ...{ assistant_id: 'remembering', input: { query: 'tea' } },
  });
  const run_id = String(headers['content-location']).split('/').at(-1) ?? '';
  const trace = await sink.trace(run_id.replaceAll('-', ''), 13);
  const common = {
    'gen_ai.conversation.id': thread_id,
    'session.id': thread_id,
    'langsmith.metadata.thread_id': thread_id,
    'agent_server.run.id': run_id,
    'agent_server.step.number': expect.any(Number),
    'agent_server.step.status': 'success',
    'langgraph.node': 'recalls',
    'langgraph.step': 1,
  };
  const retrieval = named(trace, 'retrieval Library');
  expect([retrieval.kind, retrieval.attributes]).toEqual([
    3,
    {
      ...common,
      'gen_ai.operation.name': 'retrieval',
      'gen_ai.provider.name': 'shelves',
      'openinference.span.kind': 'RETRIEVER',
      'langsmith.span.kind': 'retriever',
    },
  ]);
  for (const [name, call, kind] of [
    ['upsert_memory', 'put', 'CHAIN'],
    ['search_memory', 'search', 'RETRIEVER'],
    ['delete_memory', 'delete', 'CHAIN'],
  ] as const) {
    const span = named(trace, name);
    expect([span.kind, span.attributes]).toEqual([
      1,
      {
        ...common,
        'gen_ai.operation.name': name,
        'openinference.span.kind': kind,
        'langsmith.span.kind': kind.toLowerCase(),
        'agent_server.store.call': call,
      },
    ]);
    expect(span.parent_id).toBe(named(trace, 'node recalls').span_id);
  }
  expect(JSON.stringify([...trace.values()])).not.toMatch(/alice|marmalade|about tea/);
});

import { resolve } from 'node:path';
import { afterAll, afterEach, expect, test, vi } from 'vitest';
import { secretMask } from '../../../src/core/mask-secrets.ts';
import type { TracedStep } from '../../../src/extensions/tracing/attributes.ts';
import { spanFactory } from '../../../src/extensions/tracing/spans.ts';
import { openApp } from '../../support/app.ts';
import { collector } from '../../support/collector.ts';

const folder = resolve(import.meta.dirname, '../../fixtures/recorded-graphs');
const SPANS = 15;
const sink = await collector();
afterAll(() => sink[Symbol.asyncDispose]());
afterEach(() => vi.unstubAllEnvs());

/** The spans of a run, and what the API says of its steps. */
async function traced(capture: string | undefined) {
  vi.stubEnv('OTEL_EXPORTER_OTLP_ENDPOINT', sink.url);
  vi.stubEnv('OTEL_BSP_SCHEDULE_DELAY', '10');
  vi.stubEnv('OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT', capture);
  await using http = await openApp({ graphs: ['recorded'], folder });
  const thread_id = await http.thread();
  const body = { assistant_id: 'recorded', input: { ask: false } };
  const { headers } = await http.post(`/threads/${thread_id}/runs/wait`, body);
  const run_id = String(headers['content-location']).split('/').at(-1) ?? '';
  const { body: steps } = await http.get(`/runs/${run_id}/steps`);
  const spans = [...(await sink.trace(run_id.replaceAll('-', ''), SPANS)).values()];
  const attributesOf = (start: string) => spans.find(({ name }) => name.startsWith(start))?.attributes ?? {};
  const [run, model, tool] = ['invoke_agent', 'chat', 'execute_tool'].map(attributesOf);
  return { ...{ run, model, tool }, steps, spans };
}

test.each(['true', 'SPAN_ONLY'])(
  'spans have the inputs and outputs of runs, models and tools if enabled (%s)',
  async (capture) => {
    const { run = {}, model = {}, tool, steps } = await traced(capture);
    const text = (content: string) => ({ type: 'text', content });
    expect(JSON.parse(String(run['gen_ai.input.messages']))).toEqual([
      { role: 'user', parts: [text('{"ask":false}')] },
    ]);
    expect(run['output.value']).toMatch(/answered by nobody/);
    expect(JSON.parse(String(model['gen_ai.input.messages']))).toEqual([
      { role: 'user', parts: [{ type: 'text', content: 'plan' }] },
    ]);
    expect(JSON.parse(String(model['gen_ai.output.messages']))).toEqual([
      { role: 'assistant', parts: [{ type: 'text', content: 'yes' }] },
    ]);
    expect(model).toMatchObject({
      'input.value': model['gen_ai.input.messages'],
      'input.mime_type': 'application/json',
      'output.value': model['gen_ai.output.messages'],
      'llm.input_messages.0.message.role': 'user',
      'llm.input_messages.0.message.content': 'plan',
      'llm.output_messages.0.message.role': 'assistant',
      'llm.output_messages.0.message.content': 'yes',
    });
    expect(tool).toMatchObject({
      'gen_ai.tool.call.arguments': '{"input":"it"}',
      'gen_ai.tool.call.result': 'found it',
      'input.value': '{"input":"it"}',
      'output.value': 'found it',
    });
    expect(JSON.stringify(steps)).not.toContain('found it');
  },
);

test('spans of retrievers and of the long-term store have contents if enabled', async () => {
  vi.stubEnv('OTEL_EXPORTER_OTLP_ENDPOINT', sink.url);
  vi.stubEnv('OTEL_BSP_SCHEDULE_DELAY', '10');
  vi.stubEnv('OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT', 'true');
  await using http = await openApp({ graphs: ['remembering'], folder });
  const body = { assistant_id: 'remembering', input: { query: 'tea' } };
  const { headers } = await http.post('/runs/wait', body);
  const run_id = String(headers['content-location']).split('/').at(-1) ?? '';
  const spans = [...(await sink.trace(run_id.replaceAll('-', ''), 13)).values()];
  const attributesOf = (call: string) => spans.find(({ name }) => name.startsWith(call))?.attributes;
  expect(attributesOf('retrieval')).toMatchObject({
    'gen_ai.retrieval.query.text': 'tea',
    'input.value': 'tea',
    'output.value': expect.stringContaining('about tea'),
    'gen_ai.retrieval.documents': expect.stringContaining('about tea'),
    'retrieval.documents.0.document.content': expect.stringContaining('about tea'),
    'retrieval.documents.0.document.metadata': '{}',
  });
  const recalled = spans.filter(({ attributes }) => attributes['langgraph.node'] === 'recalls');
  const put = recalled.find(({ name }) => name === 'upsert_memory')?.attributes;
  expect(JSON.parse(String(put?.['input.value']))).toEqual({
    ...{ namespace: ['memories', 'alice'], key: 'tea', value: { likes: 'marmalade' } },
  });
  const search = recalled.find(({ attributes }) => attributes['agent_server.store.call'] === 'search');
  expect(search?.attributes['output.value']).toContain('marmalade');
});

test.each([undefined, 'false', 'EVENT_ONLY'])(
  'spans have no contents unless enabled (%s)',
  async (capture) => {
    const { spans } = await traced(capture);
    const names = spans.flatMap(({ attributes }) => Object.keys(attributes));
    expect(names.filter((name) => /messages|arguments|result|value|mime/.test(name))).toEqual([]);
    expect(JSON.stringify(spans)).not.toContain('found it');
  },
);

test('secrets in the contents of spans are masked', () => {
  const run = {
    ...{ run_id: '01890000-0000-7000-8000-000000000000', thread_id: 't', assistant_id: 'a', graph_id: 'g' },
    ...{ agent_name: 'g', agent_version: undefined },
    ...{ trace_id: '0'.repeat(32), caller: undefined, due: 0 },
  };
  const step: TracedStep = {
    ...{
      number: 1,
      parent: null,
      name: 'call',
      node: null,
      namespace: '',
      superstep: 1,
      checkpoint_id: null,
    },
    ...{ started_at: 0, ended_at: 1, error: null, model: null, provider: null },
    ...{ tokens_in: null, tokens_cached: null, tokens_out: null },
    kind: 'tool',
    status: 'success',
    contents: { input: 'Authorization: Bearer abcdefghijklmnop', output: 'the hidden-value of the project' },
  };
  const { attributes } = spanFactory({}, secretMask(['hidden-value'])).step(run, 1, step);
  expect(attributes['gen_ai.tool.call.arguments']).not.toContain('abcdefghijklmnop');
  expect(attributes['gen_ai.tool.call.result']).not.toContain('hidden-value');
});

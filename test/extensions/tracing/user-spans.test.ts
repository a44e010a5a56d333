import { resolve } from 'node:path';
import { afterAll, afterEach, expect, test, vi } from 'vitest';
import type { RunSteps } from '../../../src/schemas/steps.ts';
import { openApp } from '../../support/app.ts';
import { collector } from '../../support/collector.ts';

const folder = resolve(import.meta.dirname, '../../fixtures/user-spans');
const sink = await collector();
afterAll(() => sink[Symbol.asyncDispose]());
afterEach(() => vi.unstubAllEnvs());

const CALLER = { trace_id: '4bf92f3577b34da6a3ce929d0e0e4736', span_id: '00f067aa0ba902b7' };

interface Found {
  readonly node: string;
  readonly trace_id?: string;
  readonly span_id?: string;
  readonly flags?: number;
}

/** What the nodes of a run find as the active span, and what is recorded of the run. */
async function run({ runs = {}, headers = {} }: { runs?: object; headers?: Record<string, string> } = {}) {
  await using http = await openApp({ graphs: ['spans'], folder, runs });
  const thread_id = await http.thread();
  const call = { assistant_id: 'spans', input: {} };
  const answer = await http.post(`/threads/${thread_id}/runs/wait`, call, headers);
  const run_id = String(answer.headers['content-location']).split('/').at(-1) as string;
  const { body } = await http.get(`/runs/${run_id}/steps`);
  return { found: answer.body.found as Found[], recorded: body as RunSteps };
}

const sendTraces = () => vi.stubEnv('OTEL_EXPORTER_OTLP_ENDPOINT', sink.url);

test('spans created by code of a node are children of the span of the node, even in a subgraph', async () => {
  sendTraces();
  const { found, recorded } = await run();
  const { trace_id, steps } = recorded;
  const expected = ['first', 'inner', 'last'].map((node) => {
    const span_id = steps.find(({ name }) => name === node)?.span_id;
    return { node, trace_id, span_id, flags: 1 };
  });
  expect(found).toEqual(expected);
});

test('without recorded steps, spans created by code of a node are children of the span of the attempt', async () => {
  sendTraces();
  const [whole, none] = [await run({ runs: { record: 'nodes' } }), await run({ runs: { record: 'off' } })];
  expect(whole.found.map(({ span_id }) => span_id)).toContain(whole.recorded.steps[0]?.span_id);
  expect(new Set(none.found.map(({ span_id }) => span_id)).size).toBe(1);
  expect(none.found[0]).toMatchObject({ trace_id: none.recorded.trace_id, flags: 1 });
});

test('spans of user code are not recorded if the trace is not sampled', async () => {
  sendTraces();
  vi.stubEnv('OTEL_TRACES_SAMPLER', 'always_off');
  const { found, recorded } = await run();
  expect(found.map(({ trace_id, flags }) => ({ trace_id, flags }))).toEqual(
    found.map(() => ({ trace_id: recorded.trace_id, flags: 0 })),
  );
});

test('on a server without tracing, spans of user code are children of the span of the caller', async () => {
  const headers = { traceparent: `00-${CALLER.trace_id}-${CALLER.span_id}-01` };
  const { found } = await run({ headers });
  expect(found).toEqual(['first', 'inner', 'last'].map((node) => ({ node, ...CALLER, flags: 1 })));
});

test('without tracing and without a caller, user code has no parent span', async () => {
  const { found } = await run();
  expect(found).toEqual(['first', 'inner', 'last'].map((node) => ({ node })));
});

import { afterAll, expect, test } from 'vitest';
import { runSpanIdOf } from '../../src/core/trace-ids.ts';
import { CALLER, recordedApp, TRACE } from '../support/traced-caller.ts';

const app = await recordedApp(['recorded', 'telling']);
const { http, hook } = app;
afterAll(() => app[Symbol.asyncDispose]());

/** A run that was asked for with these headers: its configuration, and its trace. */
async function run(headers: Record<string, string>) {
  const thread_id = await http.thread();
  const body = { assistant_id: 'recorded', input: { ask: false } };
  const answer = await http.post(`/threads/${thread_id}/runs/wait`, body, headers);
  const run_id = String(answer.headers['content-location']).split('/')[4] as string;
  const { body: stored } = await http.get(`/threads/${thread_id}/runs/${run_id}`);
  const { body: recorded } = await http.get(`/runs/${run_id}/steps`);
  return { run_id, configurable: stored.kwargs.config.configurable, trace_id: recorded.trace_id };
}

test('a run is part of the trace of its caller, and its code can pass its own span on', async () => {
  const { configurable, trace_id } = await run({ traceparent: CALLER, tracestate: 'vendor=1' });
  expect(trace_id).toBe(TRACE);
  expect(configurable.traceparent).toMatch(new RegExp(`^00-${TRACE}-[0-9a-f]{16}-01$`));
  expect(configurable.traceparent).not.toBe(CALLER);
  expect(configurable.tracestate).toBe('vendor=1');
});

test('a run of a caller that does not sample its trace has the flag for it', async () => {
  const { configurable } = await run({ traceparent: CALLER.replace(/01$/, '00') });
  expect(configurable.traceparent).toMatch(/-00$/);
});

test.each([
  ['another format', 'b3: 1'],
  ['an invalid version', CALLER.replace(/^00/, 'ff')],
  ['a trace of zeros', `00-${'0'.repeat(32)}-00f067aa0ba902b7-01`],
  ['a span of zeros', `00-${TRACE}-${'0'.repeat(16)}-01`],
  ['capital letters', CALLER.toUpperCase()],
])('an invalid trace context is ignored: %s', async (_, traceparent) => {
  const { run_id, configurable, trace_id } = await run({ traceparent });
  expect(trace_id).toBe(run_id.replaceAll('-', ''));
  expect(configurable).not.toHaveProperty('traceparent');
});

test('code of a graph gets the span of its run only if the run has a traced caller', async () => {
  const told = async (headers = {}) => {
    const call = { assistant_id: 'telling', input: { traceparent: '' } };
    const answer = await http.post('/runs/wait', call, headers);
    const run_id = String(answer.headers['content-location']).split('/').at(-1) as string;
    return { run_id, traceparent: answer.body.traceparent };
  };
  const alone = await told();
  expect(alone.traceparent).toBe('undefined');
  const called = await told({ traceparent: CALLER });
  expect(called.traceparent).toBe(`00-${TRACE}-${runSpanIdOf(called.run_id)}-01`);
});

test('the configuration of a run or assistant cannot set its traced caller', async () => {
  const configurable = { __traceparent__: CALLER.replace(/01$/, '00') };
  const { body: assistant } = await http.post('/assistants', {
    graph_id: 'recorded',
    config: { configurable },
  });
  for (const call of [
    { assistant_id: 'recorded', config: { configurable } },
    { assistant_id: 'recorded', context: configurable },
    { assistant_id: assistant.assistant_id },
  ]) {
    const { body: run } = await http.post('/runs', { ...call, input: { ask: false }, on_completion: 'keep' });
    expect(run.kwargs.config.configurable).not.toHaveProperty('__traceparent__');
    const { body: recorded } = await http.get(`/runs/${run.run_id}/steps`);
    expect(recorded.trace_id).toBe(run.run_id.replaceAll('-', ''));
  }
});

test('a webhook has the trace context of its run', async () => {
  const before = hook.received.length;
  const call = { assistant_id: 'recorded', input: { ask: false }, webhook: hook.url };
  const { body: run } = await http.post('/runs', call, { traceparent: CALLER });
  await hook.came(before + 1);
  expect(hook.received[before]).toMatchObject({
    headers: { traceparent: `00-${TRACE}-${runSpanIdOf(run.run_id)}-01` },
    body: { run_id: run.run_id },
  });
});

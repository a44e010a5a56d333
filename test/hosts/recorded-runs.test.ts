import { resolve } from 'node:path';
import { afterEach, expect, test, vi } from 'vitest';
import type { RunSteps } from '../../src/schemas/steps.ts';
import { openApp } from '../support/app.ts';
import { collector } from '../support/collector.ts';

afterEach(() => vi.unstubAllEnvs());

const folder = resolve(import.meta.dirname, '../fixtures/recorded-graphs');
const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';

async function recorded(environment: Record<string, string>): Promise<RunSteps> {
  await using http = await openApp({ graphs: ['recorded'], folder, environment });
  const body = { assistant_id: 'recorded', input: { ask: false } };
  const { headers } = await http.post(`/threads/${await http.thread()}/runs/wait`, body, {
    traceparent: `00-${TRACE}-00f067aa0ba902b7-01`,
  });
  const run_id = String(headers['content-location']).split('/').at(-1);
  return (await http.get(`/runs/${run_id}/steps`)).body;
}

const outlineOf = ({ steps }: RunSteps) =>
  steps
    .map(({ kind, name, status, node, tokens_in, tokens_out }) =>
      [kind, name, status, node, tokens_in, tokens_out].join(' '),
    )
    .toSorted();

test('a run in a graph host has the same recorded steps as without one, within the trace of its caller', async () => {
  await using sink = await collector();
  vi.stubEnv('OTEL_EXPORTER_OTLP_ENDPOINT', sink.url);
  vi.stubEnv('OTEL_BSP_SCHEDULE_DELAY', '10');
  const inHost = await recorded({ AGENT_SERVER_HOSTS: '1' });
  const { trace_id, attempts, steps } = inHost;
  expect(trace_id).toBe(TRACE);
  const trace = await sink.trace(trace_id, 1 + attempts.length + steps.length);
  for (const { span_id, started_at, ended_at } of [...attempts, ...steps]) {
    const { started, ended } = trace.get(span_id) ?? {};
    expect([started, ended]).toEqual([Date.parse(started_at), Date.parse(ended_at ?? '')]);
  }
  vi.unstubAllEnvs();
  expect(outlineOf(inHost)).toEqual(outlineOf(await recorded({ AGENT_SERVER_HOSTS: '0' })));
});

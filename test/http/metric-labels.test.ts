import { afterAll, expect, test } from 'vitest';
import { boundedLabel } from '../../src/http/metrics/labels.ts';
import type { EndedRun, StoredSteps } from '../../src/schemas/system.ts';
import { bareServer } from '../support/bare-server.ts';
import { samplesOf, sampleValue } from '../support/metric-samples.ts';

let endRun: (run: EndedRun) => void = () => {};
let storeSteps: (stored: StoredSteps) => void = () => {};
const http = await bareServer({
  engine: {
    onRunEnded(listener) {
      endRun = listener;
    },
    onStepsStored(listener) {
      storeSteps = listener;
    },
  },
});
afterAll(() => http[Symbol.asyncDispose]());

const scrape = async () => (await http.inject('/metrics')).body;

test('a metric label keeps its first values, and all further ones share one', () => {
  const label = boundedLabel(2);
  expect(['a', 'b', 'c', 'a', 'd', 'b'].map(label)).toEqual(['a', 'b', 'other', 'a', 'other', 'b']);
});

test('requests are counted by route, never by the path or method that a client sent', async () => {
  for (let n = 0; n < 50; n++) {
    await http.inject(`/threads/not-an-id-${n}`);
    await http.inject(`/nowhere/${n}`);
  }
  await http.inject({ method: 'PROPFIND' as 'GET', url: '/ok' });
  const requests = samplesOf(await scrape()).filter(({ name }) => name === 'lg_api_http_requests_total');

  expect(requests.map(({ labels, value }) => [labels, value])).toEqual([
    ['{method="GET",path="/threads/{thread_id}",status="422"}', 50],
    ['{method="GET",path="unknown",status="404"}', 50],
    [expect.stringMatching(/^\{method="other",path="(unknown|\/ok)",status="\d+"\}$/), 1],
  ]);
});

test('graphs beyond a hundred share one time series', async () => {
  for (let n = 0; n < 150; n++) endRun({ graph_id: `graph-${n}`, status: 'success', ms: 5, queue_ms: 1 });
  const text = await scrape();
  const graphs = samplesOf(text).filter(({ name }) => name === 'agent_server_runs_ended_total');

  expect(graphs).toHaveLength(101);
  expect(sampleValue(text, 'agent_server_runs_ended_total', 'graph="other"')).toBe(50);
  expect(sampleValue(text, 'agent_server_run_duration_seconds_count')).toBe(150);
});

test('assistants, models and tools beyond a hundred share time series', async () => {
  const step = { status: 'success', provider: null, started_at: 0, ended_at: 5, tokens_in: 2, tokens_out: 1 };
  for (let n = 0; n < 150; n++) {
    const model = { ...step, kind: 'model', model: `model-${n}`, cost: 0.5 };
    const tool = { ...step, kind: 'tool', name: `tool-${n}`, cost: null };
    const steps = [model, tool] as unknown as StoredSteps['steps'];
    storeSteps({ assistant_id: `assistant-${n}`, graph_id: 'g', steps });
  }
  const text = await scrape();
  const count = (name: string) => samplesOf(text).filter((sample) => sample.name === name).length;

  expect(sampleValue(text, 'agent_server_tokens_total', 'assistant="other",graph="g",type="input"')).toBe(
    100,
  );
  expect(count('gen_ai_client_operation_duration_seconds_count')).toBe(101);
  expect(count('gen_ai_execute_tool_duration_seconds_count')).toBe(101);
});

test('a process without run slots has no slot metrics', async () => {
  await using api = await bareServer({
    engine: {
      workers: () => ({ max: 0, active: 0, available: 0 }),
      progress: () => ({ claim_loop_age_ms: undefined, late_renewals: 0 }),
    },
  });
  const text = (await api.inject('/metrics')).body;
  expect(sampleValue(text, 'lg_api_workers_available')).toBeUndefined();
  expect(sampleValue(text, 'agent_server_claim_loop_age_seconds')).toBeUndefined();
  expect(sampleValue(text, 'lg_api_num_pending_runs')).toBe(2);
});

test('a metric that cannot be read does not affect the others', async () => {
  await using ill = await bareServer({ engine: { storageBytes: () => Promise.reject(new Error('away')) } });
  const answer = await ill.inject('/metrics');
  expect(answer.statusCode).toBe(200);
  expect(sampleValue(answer.body, 'agent_server_webhooks_pending')).toBe(3);
});

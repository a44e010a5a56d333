import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import { measureCost } from '../../../src/extensions/usage/metrics.ts';
import { openMeters } from '../../../src/http/metrics/meters.ts';
import type { RunSteps } from '../../../src/schemas/steps.ts';
import type { StoredSteps } from '../../../src/schemas/system.ts';
import { openApp } from '../../support/app.ts';
import { samplesOf, sampleValue } from '../../support/metric-samples.ts';

const folder = resolve(import.meta.dirname, '../../fixtures/usage');

test('the metric of the cost of an assistant equals that of its recorded steps', async () => {
  await using http = await openApp({ graphs: ['spender'], folder });
  const { assistant_id } = (await http.post('/assistants', { graph_id: 'spender' })).body;
  const thread_id = await http.thread();
  const input = { calls: ['small', 'large-2026', 'nameless'] };
  const { headers } = await http.post(`/threads/${thread_id}/runs/wait`, { assistant_id, input });
  const run_id = String(headers['content-location']).split('/').at(-1);
  const { steps } = (await http.get(`/runs/${run_id}/steps`)).body as RunSteps;
  const labels = `assistant="${assistant_id}",graph="spender"`;
  const counted = sampleValue((await http.get('/metrics')).text, 'agent_server_cost_total', labels);
  expect(counted).toBeCloseTo(
    steps.reduce((all, { cost }) => all + (cost ?? 0), 0),
    9,
  );
  expect(counted).toBeGreaterThan(0);
});

test('the costs of assistants beyond a hundred share a time series', async () => {
  const meters = openMeters({ prefix: 'lg_api_' });
  let store: (stored: StoredSteps) => void = () => {};
  measureCost(
    {
      onStepsStored(listener) {
        store = listener;
      },
    },
    meters,
  );
  for (let n = 0; n < 150; n++) {
    const steps = [{ kind: 'model', cost: 0.5 }] as unknown as StoredSteps['steps'];
    store({ assistant_id: `assistant-${n}`, graph_id: 'g', steps });
  }
  const text = await meters.registry.metrics();
  expect(samplesOf(text).filter(({ name }) => name === 'agent_server_cost_total')).toHaveLength(101);
  expect(sampleValue(text, 'agent_server_cost_total', 'assistant="other"')).toBe(25);
});

import { expect, test } from 'vitest';
import type { UsageReport } from '../../../src/extensions/usage/schemas.ts';
import type { Run } from '../../../src/schemas/runs.ts';
import type { RunSteps, StepKind } from '../../../src/schemas/steps.ts';
import { endLease, startPair } from '../../chaos/on-postgres.ts';
import { startChaosServer } from '../../chaos/server.ts';
import { collector } from '../../support/collector.ts';
import { TEST_POSTGRES_URI } from '../../support/databases.ts';
import { createThread, joinRun } from '../../support/remote-runs.ts';
import { until } from '../../support/until.ts';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const CALLER = '00f067aa0ba902b7';

const NAMES: Partial<Record<StepKind, string>> = {
  node: 'node call',
  model: 'chat small',
  tool: 'execute_tool search',
};

const sumOf = (steps: RunSteps['steps']) => {
  const models = steps.filter(({ kind }) => kind === 'model');
  const sum = (name: 'tokens_in' | 'tokens_cached' | 'tokens_out') =>
    models.reduce((all, step) => all + (step[name] ?? 0), 0);
  return {
    calls: models.length,
    tokens_in: sum('tokens_in'),
    tokens_cached: sum('tokens_cached'),
    tokens_out: sum('tokens_out'),
  };
};

test.runIf(TEST_POSTGRES_URI)(
  'a run created in one process and executed by two is part of the trace of its caller, and spans and usage match its steps',
  async () => {
    await using sink = await collector();
    const env = { OTEL_EXPORTER_OTLP_ENDPOINT: sink.url, OTEL_BSP_SCHEDULE_DELAY: '50' };
    await using pair = await startPair({ ...env, AGENT_SERVER_ROLE: 'api' }, { AGENT_SERVER_ROLE: 'worker' });
    const { one: api, two: worker } = pair;
    const thread_id = await createThread(api.http);
    const { body } = await api.http.send('POST', `/threads/${thread_id}/runs`, {
      body: { assistant_id: 'calls', input: { n: 0 }, config: { configurable: { step_ms: 1_000 } } },
      headers: { traceparent: `00-${TRACE}-${CALLER}-01` },
    });
    const { run_id } = body as Run;
    const recorded = () => api.http.call<RunSteps>('GET', `/runs/${run_id}/steps`);
    await until('steps are stored', async () => (await recorded()).steps.length >= 9);
    const { pid } = worker.process;
    await worker.process.kill('SIGKILL');
    await using _heir = await startChaosServer({
      ...env,
      DATABASE_URI: pair.url,
      AGENT_SERVER_ROLE: 'worker',
    });
    await endLease(pair.db, pid);
    expect(await joinRun(api.http, { thread_id, run_id })).toMatchObject({ n: 10 });

    const { trace_id, attempts, steps } = await recorded();
    expect(trace_id).toBe(TRACE);
    expect(attempts.map(({ status }) => status)).toEqual(['lost', 'success']);
    expect(new Set(attempts.map(({ worker_id }) => worker_id)).size).toBe(2);
    const trace = await sink.trace(TRACE, 1 + attempts.length + steps.length);
    expect(trace.size).toBe(1 + attempts.length + steps.length);
    const [root] = [...trace.values()].filter(({ parent_id }) => parent_id === CALLER);
    expect(root?.name).toBe('invoke_agent calls');
    for (const { span_id } of attempts) expect(trace.get(span_id)?.parent_id).toBe(root?.span_id);
    for (const step of steps) {
      const above = steps.find(({ attempt, number }) => attempt === step.attempt && number === step.parent);
      const sent = trace.get(step.span_id);
      expect([sent?.name, sent?.started, sent?.ended, sent?.parent_id]).toEqual([
        NAMES[step.kind],
        Date.parse(step.started_at),
        Date.parse(step.ended_at),
        (above ?? attempts[step.attempt - 1])?.span_id,
      ]);
    }
    expect(new Set(steps.map(({ attempt, kind }) => `${kind} ${attempt}`)).size).toBe(6);
    const { groups } = await api.http.call<UsageReport>('GET', '/usage');
    expect(groups).toMatchObject([sumOf(steps)]);
  },
);

import { expect, test } from 'vitest';
import type { RunSteps } from '../../../src/schemas/steps.ts';
import { endLease, startPair } from '../../chaos/on-postgres.ts';
import type { ChaosServer } from '../../chaos/server.ts';
import { collector } from '../../support/collector.ts';
import { TEST_POSTGRES_URI } from '../../support/databases.ts';
import { joinRun, startRun } from '../../support/remote-runs.ts';
import { until } from '../../support/until.ts';

const isExecuting = async ({ http }: ChaosServer) =>
  (await http.call<{ workers: { active: number } }>('GET', '/metrics?format=json')).workers.active > 0;

const stepsOf = ({ http }: ChaosServer, run_id: string) =>
  http.call<RunSteps>('GET', `/runs/${run_id}/steps`);

test.runIf(TEST_POSTGRES_URI)(
  'a run that another process resumes after a kill has one trace, equal to its recorded steps to the ms',
  async () => {
    await using sink = await collector();
    const env = { OTEL_EXPORTER_OTLP_ENDPOINT: sink.url, OTEL_BSP_SCHEDULE_DELAY: '50' };
    await using pair = await startPair(env);
    const run = await startRun(pair.one.http, {
      assistant_id: 'ten-steps',
      input: { n: 0 },
      config: { configurable: { step_ms: 150 } },
    });
    await until('it executes', async () => (await isExecuting(pair.one)) || (await isExecuting(pair.two)));
    const [killed, survivor] = (await isExecuting(pair.one)) ? [pair.one, pair.two] : [pair.two, pair.one];
    await until('four steps are stored', async () => (await stepsOf(survivor, run.run_id)).steps.length >= 4);
    // Every process says what it does now, whichever executes it.
    for (const server of [killed, survivor]) {
      expect((await stepsOf(server, run.run_id)).current).toMatchObject([
        { name: 'step', status: 'running' },
      ]);
    }
    const { pid } = killed.process;
    await killed.process.kill('SIGKILL');
    await endLease(pair.db, pid);
    expect(await joinRun(survivor.http, run)).toMatchObject({ n: 10 });

    const { trace_id, attempts, steps, current } = await stepsOf(survivor, run.run_id);
    const trace = await sink.trace(trace_id, 1 + attempts.length + steps.length);
    expect([attempts.map(({ status }) => status), current]).toEqual([['lost', 'success'], []]);
    expect(new Set(attempts.map(({ worker_id }) => worker_id)).size).toBe(2);
    expect(trace.size).toBe(1 + attempts.length + steps.length);
    for (const step of steps) {
      const times = [Date.parse(step.started_at), Date.parse(step.ended_at)];
      const sent = sink.spans.filter(({ span_id }) => span_id === step.span_id);
      // One that both processes sent says the same twice.
      for (const span of sent)
        expect([span.name, span.started, span.ended]).toEqual([`node ${step.name}`, ...times]);
      expect(sent[0]?.parent_id).toBe(attempts[step.attempt - 1]?.span_id);
    }
    const last = Math.max(
      ...steps.filter(({ attempt }) => attempt === 1).map((step) => Date.parse(step.ended_at)),
    );
    const [lost, second] = attempts.map(({ span_id }) => trace.get(span_id));
    expect([lost?.started, lost?.ended]).toEqual([Date.parse(attempts[0]?.started_at ?? ''), last]);
    expect(lost?.attributes['agent_server.run.attempt.status']).toBe('lost');
    expect(second?.links).toEqual([{ trace_id, span_id: lost?.span_id }]);
    expect([second?.started, second?.ended]).toEqual([
      Date.parse(attempts[1]?.started_at ?? ''),
      Date.parse(attempts[1]?.ended_at ?? ''),
    ]);
  },
);

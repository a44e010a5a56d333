import { expect, test } from 'vitest';
import { HostLost, Unavailable } from '../../src/core/errors.ts';
import type { GraphEvent } from '../../src/graphs/graph.ts';
import type { Attempt } from '../../src/workers/attempt.ts';
import { firstWait } from '../../src/workers/run-log.ts';
import { describeEachDatabase } from '../support/databases.ts';
import { executingWorker } from '../support/executing-worker.ts';
import { FAILURE_RULES } from '../support/queued-runs.ts';
import { scriptedGraph, untilStopped } from '../support/scripted-graph.ts';
import { until } from '../support/until.ts';

async function* oneValue(): AsyncGenerator<GraphEvent> {
  yield { event: 'values', data: { n: 1 } };
}

/** Throws each of these once, one per attempt, and then streams. */
function failingWith(...errors: Error[]) {
  return scriptedGraph(() => {
    const error = errors.shift();
    if (error) throw error;
    return oneValue();
  });
}

test('a delay requested by the client does not count as time in the queue', () => {
  const created_at = '2026-11-20T12:00:00.000Z';
  const configurable = { __after_seconds__: 60 };
  const run = { created_at, kwargs: { config: { configurable } } };
  const started = Date.parse('2026-11-20T12:01:00.250Z');
  expect(firstWait({ claimed: { run }, started } as unknown as Attempt)).toBe(250);
});

describeEachDatabase('a worker measures', (open) => {
  test('a run that succeeds: its wait, its end, and the lag of its log', async () => {
    await using db = await open();
    const at = executingWorker(db, scriptedGraph(oneValue));
    at.worker.start();
    expect(await at.ended(await at.enqueue())).toBe('success');
    await at.worker.stop(0);
    expect(at.statuses).toEqual(['success']);
    expect(at.observed.run_queue_wait_time_1st_attempt).toEqual([expect.any(Number)]);
    expect(at.observed.log_lag_seconds?.length).toBeGreaterThan(0);
  });

  test('a run with two attempts: one first wait, and one end', async () => {
    await using db = await open();
    const at = executingWorker(db, failingWith(new Unavailable('the database is away')));
    at.worker.start();
    const run = await at.enqueue();
    await until('the second attempt has ended', async () => {
      at.bus.emit('run.ready');
      return (await at.queue.position(run.run_id)) === undefined;
    });
    await at.worker.stop(0);
    expect(at.statuses).toEqual(['success']);
    expect(at.observed.run_queue_wait_time_1st_attempt).toHaveLength(1);
  });

  test('a run whose host ends too often, as a failure', async () => {
    await using db = await open();
    const at = executingWorker(db, failingWith(new HostLost('it exited', true)), {}, () => ({
      hostFailure: { ...FAILURE_RULES, max_attempts: 1 },
    }));
    at.worker.start();
    expect(await at.ended(await at.enqueue())).toBe('error');
    await at.worker.stop(0);
    expect(at.statuses).toEqual(['error']);
  });

  test('a run that is cancelled while it executes', async () => {
    await using db = await open();
    const at = executingWorker(db, scriptedGraph(untilStopped));
    at.worker.start();
    await at.interrupted();
    await at.worker.stop(0);
    expect(at.statuses).toEqual(['interrupted']);
  });

  test('no end of a run that a shutdown returns to the queue', async () => {
    await using db = await open();
    const at = executingWorker(db, scriptedGraph(untilStopped));
    at.worker.start();
    await at.abandoned();
    expect(at.statuses).toEqual([]);
  });

  test('one end of a run, however often claims and the storage of its end fail', async () => {
    await using db = await open();
    const failures = { claim: 1, finish: 2 };
    const at = executingWorker(db, scriptedGraph(oneValue), {}, (queue) => ({
      queue: {
        ...queue,
        async claim(request) {
          if (failures.claim-- > 0) throw new Unavailable('away');
          return queue.claim(request);
        },
        async finish(lease, end) {
          if (failures.finish-- > 0) throw new Unavailable('away');
          return queue.finish(lease, end);
        },
      },
    }));
    at.worker.start();
    expect(await at.ended(await at.enqueue())).toBe('success');
    await at.worker.stop(0);
    expect(failures).toEqual({ claim: expect.any(Number), finish: -1 });
    expect(at.statuses).toEqual(['success']);
  });
});

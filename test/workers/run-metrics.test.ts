import { expect, test } from 'vitest';
import { HostLost, Unavailable } from '../../src/core/errors.ts';
import type { GraphEvent } from '../../src/graphs/graph.ts';
import type { Attempt } from '../../src/workers/attempt.ts';
import { firstWait } from '../../src/workers/run-log.ts';
import { describeEachDatabase } from '../support/databases.ts';
import { executingWorker } from '../support/executing-worker.ts';
import { FAILURE_RULES } from '../support/queued-runs.ts';
import { scriptedGraph, untilStopped } from '../support/scripted-graph.ts';

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

describeEachDatabase('a worker counts', (open) => {
  test('an attempt that succeeds: its start, its end, its wait and its duration', async () => {
    await using db = await open();
    const at = executingWorker(db, scriptedGraph(oneValue));
    at.worker.start();
    expect(await at.ended(await at.enqueue())).toBe('success');
    await at.worker.stop(0);
    expect(at.counts).toEqual({ run_attempt_started: 1, run_success: 1 });
    expect(at.observed).toMatchObject({
      run_queue_wait_time_1st_attempt: [expect.any(Number)],
      run_execution_latency: [expect.any(Number)],
    });
    expect(at.observed.run_queue_wait_time_retry_attempt).toBeUndefined();
    expect(at.observed.log_lag_seconds?.length).toBeGreaterThan(0);
    expect(at.observed.stream_publish_latency?.length).toBeGreaterThan(0);
  });

  test('an attempt that fails for a while, and the wait for the next one', async () => {
    await using db = await open();
    const at = executingWorker(db, failingWith(new Unavailable('the database is away')));
    at.worker.start();
    const run = await at.enqueue();
    await expect.poll(() => at.counts.run_failed_retriable).toBe(1);
    at.bus.emit('run.ready');
    expect(await at.ended(run)).toBe('success');
    await at.worker.stop(0);
    expect(at.counts).toEqual({ run_attempt_started: 2, run_failed_retriable: 1, run_success: 1 });
    expect(at.observed.run_queue_wait_time_1st_attempt).toHaveLength(1);
    expect(at.observed.run_queue_wait_time_retry_attempt).toHaveLength(1);
    expect(at.observed.run_execution_latency).toHaveLength(1);
  });

  test('a run whose graph fails', async () => {
    await using db = await open();
    const at = executingWorker(db, failingWith(new TypeError('no')));
    at.worker.start();
    expect(await at.ended(await at.enqueue())).toBe('error');
    await at.worker.stop(0);
    expect(at.counts).toEqual({ run_attempt_started: 1, run_failed_after_retry: 1 });
  });

  test('a run that reaches its recursion limit', async () => {
    await using db = await open();
    const error = Object.assign(new Error('Recursion limit of 25 reached'), { name: 'GraphRecursionError' });
    const at = executingWorker(db, failingWith(error));
    at.worker.start();
    expect(await at.ended(await at.enqueue())).toBe('error');
    await at.worker.stop(0);
    expect(at.counts).toMatchObject({ run_failed_after_retry: 1, graph_recursion_limit_error: 1 });
  });

  test('a run whose host ends too often, as a failure and no further retry', async () => {
    await using db = await open();
    const ended: string[] = [];
    const at = executingWorker(db, failingWith(new HostLost('it exited', true)), {}, () => ({
      hostFailure: { ...FAILURE_RULES, max_attempts: 1 },
      onEnded: ({ status }) => ended.push(status),
    }));
    at.worker.start();
    expect(await at.ended(await at.enqueue())).toBe('error');
    await at.worker.stop(0);
    expect(at.counts).toEqual({ run_attempt_started: 1, run_failed_after_retry: 1 });
    expect(ended).toEqual(['error']);
  });

  test('a run that is cancelled while it executes', async () => {
    await using db = await open();
    const at = executingWorker(db, scriptedGraph(untilStopped));
    at.worker.start();
    await at.interrupted();
    await at.worker.stop(0);
    expect(at.counts).toEqual({ run_attempt_started: 1, run_canceled_by_request: 1 });
  });

  test('a run that a shutdown returns to the queue', async () => {
    await using db = await open();
    const at = executingWorker(db, scriptedGraph(untilStopped));
    at.worker.start();
    await at.abandoned();
    expect(at.counts).toEqual({ run_attempt_started: 1, run_abandoned_by_shutdown: 1 });
  });

  test('failed attempts to claim runs and to store their end', async () => {
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
    expect(at.counts).toEqual({
      failed_to_fetch_runs: 1,
      run_attempt_started: 1,
      run_set_status_error: 2,
      run_success: 1,
    });
  });
});

import { expect, test, vi } from 'vitest';
import {
  HostLost,
  InsufficientStorage,
  ProjectFailure,
  StorageBusy,
  StorageRefused,
  StorageUnavailable,
} from '../../src/core/errors.ts';
import type { GraphEvent } from '../../src/graphs/graph.ts';
import type { RunQueue } from '../../src/storage/queue/queue.ts';
import { ActiveAttempts } from '../../src/storage/runs/active-attempts.ts';
import { WriteBuffer } from '../../src/storage/runs/write-buffer.ts';
import type { AttemptContext } from '../../src/workers/attempt.ts';
import { describeEachDatabase } from '../support/databases.ts';
import { executingWorker } from '../support/executing-worker.ts';
import { FAILURE_RULES } from '../support/queued-runs.ts';
import { scriptedGraph } from '../support/scripted-graph.ts';

const RULES = { storageFailure: { ...FAILURE_RULES, max_attempts: 3 } };

/** A graph whose first `times` executions throw `failure`, and how often it was executed. */
function failing(failure: Error, times = Number.POSITIVE_INFINITY) {
  const executed = { times: 0 };
  const graph = scriptedGraph(async function* (): AsyncGenerator<GraphEvent> {
    yield { event: 'values', data: {} };
    executed.times += 1;
    if (executed.times <= times) throw failure;
  });
  return { graph, executed };
}

describeEachDatabase('a failed attempt', (open) => {
  test.each([
    ['a service of the project', new ProjectFailure('The embeddings of the store could not be computed')],
    ["the project's own connection", Object.assign(new Error('connect'), { code: 'ECONNREFUSED' })],
    ['a statement that no repetition can help', new StorageRefused(new Error('unique constraint'))],
  ])('caused by %s ends the run as an error after one execution', async (_what, failure) => {
    await using db = await open();
    const { graph, executed } = failing(failure);
    const at = executingWorker(db, graph, {}, () => RULES);
    at.worker.start();
    expect(await at.ended(await at.enqueue())).toBe('error');
    expect(executed.times).toBe(1);
    await at.worker.stop(0);
  });

  test('whose host is replaced is followed at once by the next one, not at the next poll', async () => {
    await using db = await open();
    const { graph, executed } = failing(new HostLost('The graph host is being replaced.', false), 1);
    const at = executingWorker(db, graph);
    const polls = vi.spyOn(at.queue, 'hasReady');
    at.worker.start();
    expect(await at.ended(await at.enqueue())).toBe('success');
    expect(executed.times).toBe(2);
    expect(await Promise.all(polls.mock.results.map(({ value }) => value))).not.toContain(true);
    await at.worker.stop(0);
  });

  test.each([
    ['does not finish a statement of the run in time', new StorageBusy('too late')],
    ['has no space for what the run stores', new InsufficientStorage('full')],
  ])('because a database that answers %s is repeated max_attempts times', async (_what, failure) => {
    await using db = await open();
    const { graph, executed } = failing(failure);
    const at = executingWorker(db, graph, {}, () => RULES);
    at.worker.start();
    const run = await at.enqueue();
    expect(await at.ended(run)).toBe('error');
    expect(executed.times).toBe(3);
    expect((await at.events(run)).at(-2)).toEqual(['error', FAILURE_RULES.exhausted]);
    await at.worker.stop(0);
  });

  test('in an outage of storage executes the graph again only once storage is back, and is not charged', async () => {
    await using db = await open();
    const { graph, executed } = failing(new StorageBusy('the database is stopping'), 4);
    const tries = { times: 0 };
    const refuseTwice = (queue: RunQueue): Partial<AttemptContext> => ({
      ...RULES,
      queue: {
        ...queue,
        requeue: async (...args) => {
          tries.times += 1;
          if (tries.times % 3 !== 0) throw new StorageUnavailable('away');
          return queue.requeue(...args);
        },
      },
    });
    const at = executingWorker(db, graph, {}, refuseTwice);
    at.worker.start();
    const run = await at.enqueue();
    const timer = setInterval(() => at.bus.emit('run.ready'), 20);
    expect(await at.ended(run)).toBe('success');
    clearInterval(timer);
    expect(executed.times).toBe(5);
    expect(tries.times).toBe(12);
    await at.worker.stop(0);
  });

  test('reports to readers of its steps that it waits for storage', async () => {
    await using db = await open();
    const { graph, executed } = failing(new StorageUnavailable('away'), 1);
    const active = new ActiveAttempts();
    const away = Promise.withResolvers<void>();
    let isAway = true;
    const at = executingWorker(db, graph, {}, (queue) => ({
      queue: {
        ...queue,
        requeue: async (...args) => {
          if (!isAway) return queue.requeue(...args);
          away.resolve();
          throw new StorageUnavailable('away');
        },
      },
      writes: (lease, options) => new WriteBuffer(db, lease, options, { active }),
    }));
    at.worker.start();
    const run = await at.enqueue();
    await away.promise;
    const now = () => active.currentSteps(run.thread_id, run.run_id);
    await expect.poll(now).toMatchObject({ steps: [], waits_for_storage_since: expect.any(Number) });
    expect(executed.times).toBe(1);
    isAway = false;
    const timer = setInterval(() => at.bus.emit('run.ready'), 20);
    expect(await at.ended(run)).toBe('success');
    clearInterval(timer);
    await at.worker.stop(0);
  });
});

import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { describeEachDatabase } from '../support/databases.ts';
import { executingWorker } from '../support/executing-worker.ts';
import { newRun, request } from '../support/queued-runs.ts';
import { scriptedGraph } from '../support/scripted-graph.ts';
import { until } from '../support/until.ts';

describeEachDatabase('an idle worker', (open) => {
  test('polls for ready runs and claims only then, even without a notification', async () => {
    await using db = await open();
    let [polls, claims] = [0, 0];
    const graph = scriptedGraph(async function* () {
      yield { event: 'values', data: { n: 1 } };
    });
    const { worker, queue, ended } = executingWorker(db, graph, {}, (whole) => ({
      queue: {
        ...whole,
        hasReady: () => {
          polls += 1;
          return whole.hasReady();
        },
        claim: (wanted) => {
          claims += 1;
          return whole.claim(wanted);
        },
      },
    }));
    worker.start();
    await until('it has polled twice', () => polls >= 2);
    // The one at its start.
    expect(claims).toBe(1);

    const run = newRun(randomUUID());
    await queue.enqueue(request(run));
    expect(await ended(run)).toBe('success');
    await worker.stop(0);
  });

  test('does not query its held leases if it has no slots', async () => {
    await using db = await open();
    const graph = scriptedGraph(async function* () {});
    const { worker: without } = executingWorker(db, graph, {}, undefined, { concurrency: 0 });
    expect(without.mayHoldLeases).toBe(false);
    expect(executingWorker(db, graph).worker.mayHoldLeases).toBe(true);
  });
});

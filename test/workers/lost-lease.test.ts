import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { systemClock } from '../../src/core/clock.ts';
import { systemIds } from '../../src/core/ids.ts';
import type { Db } from '../../src/db/db.ts';
import { sql } from '../../src/db/sql.ts';
import { follow } from '../../src/events/follow.ts';
import type { GraphRegistry } from '../../src/graphs/graph.ts';
import type { Run } from '../../src/schemas/runs.ts';
import { runEventRepository } from '../../src/storage/runs/events.ts';
import type { Lease } from '../../src/storage/runs/lease.ts';
import { RunWorker } from '../../src/workers/runs.ts';
import { describeEachDatabase } from '../support/databases.ts';
import { attemptContext } from '../support/executing-worker.ts';
import { liveSources } from '../support/live-sources.ts';
import {
  FAILURE_RULES,
  KWARGS,
  newRun,
  queueStory,
  request,
  successful,
  WORKER,
} from '../support/queued-runs.ts';
import { scriptedGraph } from '../support/scripted-graph.ts';

/** A process that executes runs, and its followers. */
function processOver(db: Db, graphs: GraphRegistry) {
  const { queue } = queueStory(db);
  const log = runEventRepository(db);
  const { live, poll } = liveSources(db);
  const deps = { ...attemptContext(db, queue, graphs), live };
  const worker = new RunWorker({
    ...deps,
    ids: systemIds(systemClock),
    worker_id: WORKER.worker_id,
    concurrency: 1,
    failure: FAILURE_RULES,
    isLeaseHeld: () => true,
    attempts: deps,
  });
  const sources = { ...deps, log, poll };
  return {
    ...deps,
    log,
    worker,
    async enqueue(resumable: boolean): Promise<Run> {
      const run = { ...newRun(randomUUID()), kwargs: { ...KWARGS, resumable } };
      await queue.enqueue(request(run));
      return run;
    },
    async read({ run_id }: Run): Promise<string[]> {
      const frames = await Array.fromAsync(follow(sources, run_id, 0, AbortSignal.timeout(5_000)));
      return frames.map(({ seq, event, data }) => `${seq} ${event} ${event === 'values' ? data : ''}`.trim());
    },
  };
}

/** Gives the run to another process, as happens to one that was silent for too long. */
async function takeOver(db: Db, { run_id, thread_id }: Run): Promise<Lease> {
  const lease = { run_id, thread_id, token: randomUUID(), attempt: 2, starts: 2 };
  await db.run(sql`update run_queue set lease_token = ${lease.token}, worker_id = ${randomUUID()}
    where run_id = ${run_id}`);
  return lease;
}

describeEachDatabase('a process that lost the lease of a run', (open) => {
  test.for([true, false])(
    'shows its followers what the new holder writes, although its graph goes on (resumable: %s)',
    async (resumable) => {
      await using db = await open();
      const gate = Promise.withResolvers<void>();
      const deaf = scriptedGraph(async function* () {
        yield { event: 'values', data: { n: 1 } };
        await gate.promise;
        yield { event: 'values', data: { n: 'too late' } };
      });
      const here = processOver(db, deaf);
      here.worker.start();
      const run = await here.enqueue(resumable);
      here.bus.emit('run.ready');
      const reading = here.read(run);
      await expect.poll(() => here.log.lastSeq(run.run_id)).toBe(2);

      const lease = await takeOver(db, run);
      here.bus.emit('run.cancelled', run.run_id);
      const frames = [3, 4].map((seq) => ({ seq, event: 'values', data: JSON.stringify({ n: seq }) }));
      await here.queue.finish(lease, successful({ batch: { frames, writes: [], steps: [] } }));

      expect(await reading).toEqual([
        '1 metadata',
        '2 values {"n":1}',
        '3 values {"n":3}',
        '4 values {"n":4}',
      ]);
      gate.resolve();
      await here.worker.stop(0);
      expect(await here.log.lastSeq(run.run_id)).toBe(5);
    },
  );
});

import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { systemClock } from '../../src/core/clock.ts';
import type { LogLine } from '../../src/core/logger.ts';
import { CALLER_SPAN } from '../../src/core/trace-ids.ts';
import type { Db } from '../../src/db/db.ts';
import { sql } from '../../src/db/sql.ts';
import { memoryBus } from '../../src/events/bus.ts';
import type { Run } from '../../src/schemas/runs.ts';
import { runQueue } from '../../src/storage/queue/queue.ts';
import { reaperTick } from '../../src/workers/reaper.ts';
import { describeEachDatabase } from '../support/databases.ts';
import { executingWorker } from '../support/executing-worker.ts';
import { interleaved } from '../support/interleaved-db.ts';
import { naming } from '../support/naming.ts';
import { partsOf } from '../support/parts-of.ts';
import { FAILURE_RULES, KWARGS, newRun, queueStory, request, WORKER } from '../support/queued-runs.ts';
import { recordingLogger } from '../support/recording-logger.ts';
import { scriptedGraph } from '../support/scripted-graph.ts';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';

function recording() {
  const lines: LogLine[] = [];
  return { lines, logger: recordingLogger('warn', (line) => lines.push(line)) };
}

/** A run that is part of its caller's trace. */
async function enqueued(db: Db): Promise<Run> {
  const configurable = {
    ...KWARGS.config.configurable,
    [CALLER_SPAN]: `00-${TRACE}-00f067aa0ba902b7-01`,
  };
  const run = { ...newRun(randomUUID()), kwargs: { ...KWARGS, config: { configurable } } };
  await queueStory(db).queue.enqueue(request(run));
  return run;
}

const claimBy = (db: Db, worker_id: string) =>
  runQueue(db).claim({ worker_id, token: randomUUID(), limit: 10 });

const fieldsOf = ({ run_id, thread_id, assistant_id }: Run, attempt = 1) => {
  return { run_id, thread_id, assistant_id, graph: 'scripted', attempt, trace_id: TRACE };
};

function reaper(db: Db, logger: ReturnType<typeof recording>['logger'], max_attempts = 3) {
  return reaperTick({
    queue: runQueue(db, { report: ({ what, ...problem }) => logger.error(what, problem) }),
    outbox: partsOf({ releaseLost: async () => 0 }),
    bus: memoryBus(),
    rules: { ...FAILURE_RULES, max_attempts, worker_id: WORKER.worker_id, backoff_ms: 0 },
    heartbeat_ms: 5000,
    nothingLostFor: () => 0,
    clock: systemClock,
    logger,
  });
}

describeEachDatabase('the server log', (open) => {
  test('names each run recovered from a dead worker, with its attempt and trace, and its status if it ended', async () => {
    await using db = await open();
    const { lines, logger } = recording();
    const runs = [await enqueued(db), await enqueued(db)];
    // Their worker never had a lease.
    await claimBy(db, randomUUID());
    await reaper(db, logger)();
    expect(lines.map(({ message, fields }) => ({ message, fields }))).toEqual(
      runs.map((run) => ({ message: naming('recovered', 'dead worker'), fields: fieldsOf(run) })),
    );

    lines.length = 0;
    await claimBy(db, randomUUID());
    await reaper(db, logger, 1)();
    expect(lines.map(({ fields }) => fields)).toEqual(
      runs.map((run) => ({ ...fieldsOf(run, 2), status: 'error' })),
    );
  });

  test('names a run that cannot be recovered from a dead worker in the same way', async () => {
    await using db = await open();
    const { lines, logger } = recording();
    const run = await enqueued(db);
    await claimBy(db, randomUUID());
    const failing = interleaved(db);
    failing.pause('before transaction').fail(new Error('this one cannot be read'));
    await reaper(failing, logger)();
    expect(lines).toMatchObject([{ message: naming('cannot be recovered'), fields: fieldsOf(run) }]);
  });

  test('names an orphaned run in the same way, recovered or not', async () => {
    await using db = await open();
    const { lines, logger } = recording();
    let isRefused = true;
    const { worker } = executingWorker(
      db,
      scriptedGraph(async function* () {}),
      {},
      (queue) => ({
        logger,
        queue: {
          ...queue,
          requeueUnknown: async (lease) => {
            if (!isRefused) return queue.requeueUnknown(lease);
            isRefused = false;
            throw new Error('refused');
          },
        },
      }),
    );
    const run = await enqueued(db);
    await claimBy(db, WORKER.worker_id);
    await worker.reconcileLeases();
    await worker.reconcileLeases();
    expect(lines).toMatchObject([
      { message: naming('orphaned run', 'retrying'), fields: fieldsOf(run) },
      { message: naming('recovered', 'orphaned run'), fields: fieldsOf(run) },
    ]);
    await worker.stop(0);
  });

  test('names no graph for an orphaned run whose stored input is damaged, and the run is recovered', async () => {
    await using db = await open();
    const { lines, logger } = recording();
    const graph = scriptedGraph(async function* () {});
    const { worker } = executingWorker(db, graph, {}, () => ({ logger }));
    const { run_id, thread_id, assistant_id } = await enqueued(db);
    await claimBy(db, WORKER.worker_id);
    await db.run(sql`update runs set kwargs = '{}' where run_id = ${run_id}`);
    await worker.reconcileLeases();
    const fields = { run_id, thread_id, assistant_id, attempt: 1 };
    expect(lines).toEqual([
      expect.objectContaining({ message: naming('recovered', 'orphaned run'), fields }),
    ]);
    await worker.stop(0);
  });
});

import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { systemClock } from '../../src/core/clock.ts';
import { LeaseLost, Unavailable } from '../../src/core/errors.ts';
import { systemIds } from '../../src/core/ids.ts';
import type { Db } from '../../src/db/db.ts';
import { sql } from '../../src/db/sql.ts';
import { follow } from '../../src/events/follow.ts';
import type { GraphRegistry } from '../../src/graphs/graph.ts';
import type { Run } from '../../src/schemas/runs.ts';
import type { RunQueue } from '../../src/storage/queue/queue.ts';
import { type Frame, insertFrames, runEventRepository } from '../../src/storage/runs/events.ts';
import type { Lease } from '../../src/storage/runs/lease.ts';
import { WriteBuffer } from '../../src/storage/runs/write-buffer.ts';
import type { AttemptContext } from '../../src/workers/attempt.ts';
import { RunWorker } from '../../src/workers/runs.ts';
import { describeEachDatabase } from '../support/databases.ts';
import { attemptContext, executingWorker } from '../support/executing-worker.ts';
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
import { recordingLogger } from '../support/recording-logger.ts';
import { scriptedGraph, untilStopped } from '../support/scripted-graph.ts';

/** A process that executes runs, and its followers. Its attempts write through `writes`. */
function processOver(
  db: Db,
  graphs: GraphRegistry,
  { writes = db, claim }: { writes?: Db; claim?: (queue: RunQueue) => RunQueue['claim'] } = {},
) {
  const { queue: whole } = queueStory(db);
  const queue = claim ? { ...whole, claim: claim(whole) } : whole;
  const log = runEventRepository(db);
  const { live, poll } = liveSources(db);
  const deps: AttemptContext = {
    ...attemptContext(db, queue, graphs),
    live,
    writes: (lease, options) => new WriteBuffer(writes, lease, options),
  };
  const worker = new RunWorker({
    ...deps,
    ids: systemIds(systemClock),
    worker_id: WORKER.worker_id,
    concurrency: 1,
    failure: FAILURE_RULES,
    isLeaseHeld: () => true,
    attempts: deps,
  });
  const sources = { ...deps, log, unsharedLog: log, poll };
  return {
    ...deps,
    log,
    worker,
    async enqueue(resumable: boolean): Promise<Run> {
      const run = { ...newRun(randomUUID()), kwargs: { ...KWARGS, resumable } };
      await queue.enqueue(request(run));
      return run;
    },
    /** Adds what a follower gets to `seen`. */
    async read({ run_id }: Run, seen: string[] = []): Promise<string[]> {
      for await (const { seq, event, data } of follow(sources, run_id, 0, AbortSignal.timeout(50_000)))
        seen.push(`${seq} ${event} ${event === 'values' ? data : ''}`.trim());
      return seen;
    },
  };
}

/** A database whose answers to commits do not arrive any more once it is `cut`. */
function cuttable(db: Db) {
  const back = Promise.withResolvers<never>();
  back.promise.catch(() => {});
  let isCut = false;
  const transaction: Db['transaction'] = (durability, body) =>
    isCut ? back.promise : db.transaction(durability, body);
  return {
    db: { ...db, transaction },
    cut: () => (isCut = true),
    [Symbol.dispose]: () => back.reject(new Unavailable('away')),
  };
}

const CANCEL = {
  action: 'interrupt',
  error: { error: 'UserInterrupt', message: 'asked for' },
  log_retention_ms: 60_000,
} as const;

const values = (seq: number, n: unknown): Frame => ({ seq, event: 'values', data: JSON.stringify({ n }) });

/** Gives the run to another process, as happens to one that was silent for too long. */
async function takeOver(db: Db, { run_id, thread_id }: Run): Promise<Lease> {
  const lease = { run_id, thread_id, token: randomUUID(), attempt: 2, starts: 2 };
  await db.run(sql`update run_queue set lease_token = ${lease.token}, worker_id = ${randomUUID()}
    where run_id = ${run_id}`);
  return lease;
}

describeEachDatabase('a process that lost the lease of a run', (open) => {
  test.for([true, false])(
    'sends its followers the events of the new holder, although its own graph still executes (resumable: %s)',
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
      const frames = [3, 4].map((seq) => values(seq, seq));
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

  test.for([
    ['are not stored', []],
    ['are stored, without its hearing of it', [values(3, 'only shown'), values(4, 'only shown too')]],
  ] as const)(
    'sends all events of the new attempt to followers that have seen events that %s',
    async ([_what, stored]) => {
      await using db = await open();
      using database = cuttable(db);
      const gates = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      const deaf = scriptedGraph(async function* () {
        yield { event: 'values', data: { n: 1 } };
        await gates[0]?.promise;
        yield { event: 'values', data: { n: 'only shown' } };
        yield { event: 'values', data: { n: 'only shown too' } };
        await gates[1]?.promise;
      });
      const here = processOver(db, deaf, { writes: database.db });
      here.worker.start();
      const run = await here.enqueue(false);
      here.bus.emit('run.ready');
      const seen: string[] = [];
      const reading = here.read(run, seen);
      await expect.poll(() => here.log.lastSeq(run.run_id)).toBe(2);
      database.cut();
      gates[0]?.resolve();
      await expect.poll(() => seen).toHaveLength(4);
      await db.transaction('async', (tx) => insertFrames(tx, run.run_id, stored));

      const lease = await takeOver(db, run);
      const first = stored.length + 3;
      const frames = [
        { seq: first, event: 'metadata', data: JSON.stringify({ run_id: run.run_id, attempt: 2 }) },
        values(first + 1, 2),
      ];
      await db.transaction('async', (tx) => insertFrames(tx, run.run_id, frames));
      here.bus.emit('run.cancelled', run.run_id);
      await expect.poll(() => seen).toHaveLength(6);
      await here.queue.finish(lease, successful());

      expect(await reading).toEqual([
        '1 metadata',
        '2 values {"n":1}',
        '3 values {"n":"only shown"}',
        '4 values {"n":"only shown too"}',
        `${first} metadata`,
        `${first + 1} values {"n":2}`,
      ]);
      gates[1]?.resolve();
      await here.worker.stop(0);
    },
  );

  test('logs no error when it cannot read the state of that run', async () => {
    await using db = await open();
    const errors: string[] = [];
    const logger = recordingLogger('error', ({ message }) => errors.push(message));
    const scripted = scriptedGraph(async function* () {});
    const graph = await scripted.get('scripted', { configurable: {} }, 'threads.create_run');
    const isRead = Promise.withResolvers<void>();
    const state = async (): Promise<never> => {
      await takeOver(db, run);
      isRead.resolve();
      throw new LeaseLost(run.run_id);
    };
    const graphs = { ...scripted, get: async () => ({ ...graph, state }) };
    const { worker, enqueue } = executingWorker(db, graphs, {}, () => ({ logger }));
    const run = await enqueue();
    worker.start();
    await isRead.promise;
    await worker.stop(10_000);
    expect(errors).toEqual([]);
  });
});

describeEachDatabase('a run that is cancelled while its claim is on its way to the worker', (open) => {
  test('stops at once, not at the next heartbeat', async () => {
    await using db = await open();
    const here = processOver(db, scriptedGraph(untilStopped), {
      claim: (queue) => async (asked) => {
        const claimed = await queue.claim(asked);
        // What another request does before this process hears of its claim.
        for (const { lease } of claimed) {
          await queue.cancel(lease.thread_id, [lease.run_id], CANCEL);
          here.bus.emit('run.cancelled', lease.run_id);
        }
        return claimed;
      },
    });
    const run = await here.enqueue(true);
    here.worker.start();
    // Sooner than a worker compares its runs with the database by itself.
    await expect.poll(() => here.queue.position(run.run_id), { timeout: 20_000 }).toBeUndefined();
    await here.worker.stop(0);
  });
});

import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { systemClock } from '../../src/core/clock.ts';
import { InsufficientStorage, Unavailable } from '../../src/core/errors.ts';
import { immediate } from '../../src/core/event-loop.ts';
import { systemIds } from '../../src/core/ids.ts';
import type { Db } from '../../src/db/db.ts';
import { sql } from '../../src/db/sql.ts';
import type { GraphEvent } from '../../src/graphs/graph.ts';
import type { Run, RunKwargs } from '../../src/schemas/runs.ts';
import type { RunQueue } from '../../src/storage/queue/queue.ts';
import { ActiveAttempts } from '../../src/storage/runs/active-attempts.ts';
import { runEventRepository } from '../../src/storage/runs/events.ts';
import type { Lease } from '../../src/storage/runs/lease.ts';
import { WriteBuffer } from '../../src/storage/runs/write-buffer.ts';
import type { AttemptContext } from '../../src/workers/attempt.ts';
import type { runAttempt } from '../../src/workers/run-attempt.ts';
import { RunWorker } from '../../src/workers/runs.ts';
import { describeEachDatabase } from '../support/databases.ts';
import { attemptContext } from '../support/executing-worker.ts';
import { FAILURE_RULES, KWARGS, newRun, queueStory, request, WORKER } from '../support/queued-runs.ts';
import { scriptedGraph } from '../support/scripted-graph.ts';

const CANCEL = {
  action: 'interrupt',
  error: { error: 'UserInterrupt', message: 'asked for' },
  log_retention_ms: 60_000,
} as const;

async function* oneValue(): AsyncGenerator<GraphEvent> {
  yield { event: 'values', data: { n: 1 } };
}

/** A worker whose queue answers as `change` makes it. */
function working(
  db: Db,
  graph: () => AsyncGenerator<GraphEvent>,
  change: (queue: RunQueue) => Partial<RunQueue>,
  attempt?: typeof runAttempt,
) {
  const { queue: whole, statusOf } = queueStory(db);
  const queue = { ...whole, ...change(whole) };
  const open = new ActiveAttempts();
  const deps: AttemptContext = {
    ...attemptContext(db, queue, scriptedGraph(graph)),
    writes: (lease, options) => new WriteBuffer(db, lease, options, { active: open }),
  };
  const worker = new RunWorker({
    ...deps,
    ids: systemIds(systemClock),
    worker_id: WORKER.worker_id,
    concurrency: 3,
    failure: FAILURE_RULES,
    isLeaseHeld: () => true,
    attempts: deps,
    ...(attempt && { attempt }),
  });
  return {
    ...deps,
    worker,
    open,
    statusOf,
    async enqueue(kwargs: Partial<RunKwargs> = {}): Promise<Run> {
      const run = { ...newRun(randomUUID()), kwargs: { ...KWARGS, ...kwargs } };
      await whole.enqueue(request(run));
      return run;
    },
    async ended({ run_id }: Run): Promise<string | undefined> {
      await expect.poll(() => whole.position(run_id)).toBeUndefined();
      return statusOf(run_id);
    },
    async log({ run_id }: Run): Promise<string[]> {
      const { frames } = await runEventRepository(db).readAfter(run_id, 0, 100);
      return frames.map(({ seq, event }) => `${seq} ${event}`);
    },
  };
}

describeEachDatabase('a worker', (open) => {
  test('releases runs whose claim was committed but not acknowledged', async () => {
    await using db = await open();
    let [isLost, isAway] = [true, false];
    const at = working(db, oneValue, (queue) => ({
      async claim(asked) {
        const claimed = await queue.claim(asked);
        if (!isLost) return claimed;
        isLost = false;
        throw new Unavailable('the line was cut');
      },
      heldLeases: async (id) => (isAway ? Promise.reject(new Unavailable('away')) : queue.heldLeases(id)),
    }));
    const run = await at.enqueue();
    await at.worker.reconcileLeases();
    isAway = true;
    await expect(at.worker.tick()).rejects.toThrow('the line was cut');
    expect(await at.statusOf(run.run_id)).toBe('running');
    await expect(at.worker.reconcileLeases()).rejects.toThrow('away');
    expect(at.worker.mayHoldLeases).toBe(true);
    isAway = false;

    await at.worker.reconcileLeases();
    expect(await at.queue.position(run.run_id)).toMatchObject({
      state: 'ready',
      attempt: 0,
      retry_reason: 'claim lost',
    });
    await at.worker.tick();
    expect(await at.ended(run)).toBe('success');
    await at.worker.stop(0);
  });

  test('does not release runs that it is claiming or executing', async () => {
    await using db = await open();
    const going = Promise.withResolvers<void>();
    const answered = Promise.withResolvers<void>();
    const claimed = Promise.withResolvers<void>();
    const at = working(
      db,
      async function* () {
        await going.promise;
        yield { event: 'values', data: {} };
      },
      (queue) => ({
        async claim(asked) {
          const runs = await queue.claim(asked);
          claimed.resolve();
          await answered.promise;
          return runs;
        },
      }),
    );
    const run = await at.enqueue();
    const ticking = at.worker.tick();
    await claimed.promise;
    await at.worker.reconcileLeases();
    answered.resolve();
    await ticking;
    await at.worker.reconcileLeases();
    expect(await at.queue.position(run.run_id)).toMatchObject({ state: 'running', attempt: 1 });
    going.resolve();
    expect(await at.ended(run)).toBe('success');
    await at.worker.stop(0);
  });

  test('does not release a run that it claimed again before the attempt which lost it had ended', async () => {
    await using db = await open();
    const ends = [Promise.withResolvers<void>(), Promise.withResolvers<void>()] as const;
    const leases: Lease[] = [];
    const at = working(
      db,
      oneValue,
      () => ({}),
      async (_context, { lease }) => ends[leases.push(lease) - 1]?.promise,
    );
    const run = await at.enqueue();
    await at.worker.tick();
    // Others took this process for dead.
    await at.queue.requeueUnknown({ worker_id: WORKER.worker_id, ...(leases[0] as Lease) });
    await at.worker.tick();
    expect(leases).toHaveLength(2);
    ends[0].resolve();
    await immediate();
    await at.worker.reconcileLeases();
    expect(await at.queue.position(run.run_id)).toMatchObject({ state: 'running' });
    expect(at.worker.active).toBe(1);
    ends[1].resolve();
    await at.worker.stop(0);
  });

  test('keeps the last events of an attempt when a cancel comes before its release', async () => {
    await using db = await open();
    const at = working(
      db,
      async function* () {
        yield { event: 'values', data: { n: 1 } };
        throw new Unavailable('the database was away');
      },
      (queue) => ({
        async requeue(lease, how) {
          await queue.cancel(lease.thread_id, [lease.run_id], CANCEL);
          return queue.requeue(lease, how);
        },
      }),
    );
    const run = await at.enqueue();
    await at.worker.tick();
    expect(await at.ended(run)).toBe('interrupted');
    expect(await at.log(run)).toEqual(['1 metadata', '2 values', '3 __end__']);
    await at.worker.stop(0);
  });

  test('ends a run later if storage refuses both its end and its release', async () => {
    await using db = await open();
    let isBroken = true;
    const broken = () => {
      if (isBroken) throw new TypeError('no such column');
    };
    const at = working(db, oneValue, (queue) => ({
      async finish(lease, end) {
        broken();
        return queue.finish(lease, end);
      },
      async requeue(lease, how) {
        broken();
        return queue.requeue(lease, how);
      },
    }));
    const run = await at.enqueue();
    await at.worker.tick();
    await expect.poll(() => at.worker.active).toBe(0);
    expect(await at.statusOf(run.run_id)).toBe('running');
    isBroken = false;
    await at.worker.reconcileLeases();
    expect(await at.queue.position(run.run_id)).toMatchObject({ retry_reason: 'attempt broke', failures: 1 });
    await at.worker.stop(0);
  });

  test('releases each run of a claim whose attempt broke, even while another run of the claim executes', async () => {
    await using db = await open();
    let isBroken = true;
    const going = Promise.withResolvers<void>();
    let begun = 0;
    const at = working(
      db,
      oneValue,
      (queue) => ({
        async requeue(lease, how) {
          if (isBroken) throw new TypeError('no such column');
          return queue.requeue(lease, how);
        },
      }),
      async () => {
        if (++begun === 3) return going.promise;
        throw new TypeError('cannot be stored');
      },
    );
    const runs = [await at.enqueue(), await at.enqueue(), await at.enqueue()];
    await at.worker.tick();
    await expect.poll(() => at.worker.active).toBe(1);
    isBroken = false;
    await at.worker.reconcileLeases();
    for (const { run_id } of runs.slice(0, 2))
      expect(await at.queue.position(run_id)).toMatchObject({ retry_reason: 'attempt broke', failures: 1 });
    going.resolve();
    await at.worker.stop(0);
  });

  test('ends a run whose end can never be stored', async () => {
    await using db = await open();
    const at = working(db, oneValue, () => ({
      async finish() {
        throw new TypeError('cannot be stored');
      },
    }));
    const run = await at.enqueue();
    for (let attempt = 1; attempt <= 3; attempt++) {
      await at.worker.tick();
      await expect.poll(() => at.worker.active).toBe(0);
      // What waits out its backoff is due at once.
      await db.run(sql`update run_queue set not_before = '2020-01-01T00:00:00.000Z'`);
    }
    expect(await at.ended(run)).toBe('error');
    await at.worker.stop(0);
  });
});

describeEachDatabase('a reader of a thread', (open) => {
  test.for([
    [new Unavailable('away'), 'gets 503 at once while storage is unavailable'],
    [new InsufficientStorage('full'), 'gets the stored state while the disk is full'],
  ] as const)('%s', async ([failure]) => {
    await using db = await open();
    const failed = Promise.withResolvers<void>();
    const back = Promise.withResolvers<void>();
    let tries = 0;
    const at = working(db, oneValue, (queue) => ({
      async finish(lease, end) {
        if (++tries === 1) throw failure;
        // The second try is held until the reader has its answer.
        failed.resolve();
        await back.promise;
        return queue.finish(lease, end);
      },
    }));
    const run = await at.enqueue();
    await at.worker.tick();
    await failed.promise;
    const reading = at.open.whenFlushed(run.thread_id);
    if (failure instanceof Unavailable) await expect(reading).rejects.toBe(failure);
    else await reading;
    back.resolve();
    expect(await at.ended(run)).toBe('success');
    await at.worker.stop(0);
  });
});

import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { sql } from '../../../src/db/sql.ts';
import type { Cancellation } from '../../../src/storage/queue/cancel.ts';
import type { QueueProblem } from '../../../src/storage/queue/context.ts';
import { runQueue } from '../../../src/storage/queue/queue.ts';
import { threadRepository } from '../../../src/storage/threads/threads.ts';
import { describeEachDatabase } from '../../support/databases.ts';
import { interleaved } from '../../support/interleaved-db.ts';
import { FAILURE_RULES, newRun, queueStory, request, successful, WORKER } from '../../support/queued-runs.ts';

const REAP = { ...FAILURE_RULES, worker_id: randomUUID(), backoff_ms: 0 };
const RELEASE = { charge: false, delay_ms: 0, batch: { frames: [], writes: [], steps: [] } };
const INTERRUPT: Cancellation = {
  action: 'interrupt',
  error: { error: 'UserInterrupt', message: 'asked for' },
  log_retention_ms: 60_000,
};
const ROLLBACK: Cancellation = { ...INTERRUPT, action: 'rollback' };

describeEachDatabase('concurrent queue operations', (open) => {
  test.for([
    ['a rollback', { others: ROLLBACK }],
    ['an interrupt', { others: INTERRUPT }],
  ] as const)(
    '%s while a reaper recovers the run ends it, and the thread continues',
    async ([, strategy]) => {
      await using db = await open();
      const { queue, add, states, statusOf } = queueStory(db);
      const [thread_id, other] = [randomUUID(), randomUUID()];
      const lost = await add(thread_id);
      const blocked = await add(thread_id, { others: 'enqueue' });
      const neighbour = await add(other);
      await queue.claim({ worker_id: randomUUID(), token: randomUUID(), limit: 10 });

      const reaper = interleaved(db);
      const found = reaper.pause('read', /from run_queue q/);
      const reaping = runQueue(reaper).reap(REAP);
      await found.reached;
      const next = newRun(thread_id);
      expect(await queue.enqueue({ ...request(next), ...strategy })).toMatchObject({
        stopping: [lost],
        ended: [blocked],
      });
      found.resume();
      expect(await reaping).toBe(2);

      expect(await states(thread_id)).toEqual({ [next.run_id]: 'ready' });
      expect(await statusOf(lost)).toBe(strategy.others.action === 'rollback' ? undefined : 'interrupted');
      const claimed = await queue.claim({ worker_id: WORKER.worker_id, token: randomUUID(), limit: 10 });
      expect(claimed.map(({ lease }) => lease.run_id).sort()).toEqual([neighbour, next.run_id].sort());
      for (const { lease } of claimed) {
        expect(await queue.finish(lease, successful())).toMatchObject({ outcome: 'finished' });
      }
      await add(thread_id);
      expect(await queueStory(db).claimed()).toHaveLength(1);
    },
  );

  test('two reapers recover a run once', async () => {
    await using db = await open();
    const { queue, add } = queueStory(db);
    const run_id = await add(randomUUID());
    await queue.claim({ worker_id: randomUUID(), token: randomUUID(), limit: 1 });
    const slow = interleaved(db);
    const found = slow.pause('read', /from run_queue q/);
    const reaping = runQueue(slow).reap(REAP);
    await found.reached;
    expect(await queue.reap(REAP)).toBe(1);
    const [second] = await queue.claim({ worker_id: WORKER.worker_id, token: randomUUID(), limit: 1 });
    found.resume();
    expect(await reaping).toBe(0);
    expect(await queue.heldLeases(WORKER.worker_id)).toMatchObject([{ run_id, token: second?.lease.token }]);
  });

  test('a worker whose heartbeat returns while it is reaped keeps its runs', async () => {
    await using db = await open();
    const { queue, add } = queueStory(db);
    const run_id = await add(randomUUID());
    await queue.claim({ worker_id: WORKER.worker_id, token: randomUUID(), limit: 1 });
    const reaper = interleaved(db);
    const found = reaper.pause('read', /from run_queue q/);
    const reaping = runQueue(reaper).reap(REAP);
    await found.reached;
    await queue.heartbeat(WORKER, 20_000);
    found.resume();
    expect(await reaping).toBe(0);
    expect(await queue.heldLeases(WORKER.worker_id)).toMatchObject([{ run_id }]);
  });

  test('a queue entry without a run is reported, its log is closed, and the next run continues', async () => {
    await using db = await open();
    const { queue, add, states } = queueStory(db);
    const [thread_id, other] = [randomUUID(), randomUUID()];
    const stray = await add(thread_id);
    const [first] = await queue.claim({ worker_id: WORKER.worker_id, token: randomUUID(), limit: 1 });
    expect(await queue.requeue(first!.lease, RELEASE)).toMatchObject({ outcome: 'ready' });
    const [blocked, neighbour] = [await add(thread_id), await add(other)];
    await db.run(sql`delete from runs where run_id = ${stray}`);

    const problems: QueueProblem[] = [];
    const reporting = runQueue(db, { report: (problem) => problems.push(problem) });
    const claim = { worker_id: WORKER.worker_id, token: randomUUID(), limit: 10 };
    expect((await reporting.claim(claim)).map(({ lease }) => lease.run_id)).toEqual([neighbour]);
    const what = 'removed a queue entry without a run';
    expect(problems).toEqual([{ what, run_id: stray, thread_id, attempt: 1 }]);
    expect(await states(thread_id)).toEqual({ [blocked]: 'ready' });
    expect((await queue.claim({ ...claim, token: randomUUID() }))[0]?.lease.run_id).toBe(blocked);
    const log = await db.all(
      sql`select base, length from thread_log where thread_id = ${thread_id} order by base`,
    );
    expect(log).toEqual([
      { base: 0, length: 1 },
      { base: 1, length: null },
    ]);
  });

  test('an open log of a deleted run does not block a claim', async () => {
    await using db = await open();
    const { add, claimed } = queueStory(db);
    const thread_id = randomUUID();
    const lost = await add(thread_id);
    await claimed();
    // As an older version left it.
    await db.run(sql`delete from run_queue where run_id = ${lost}`);
    const [next, neighbour] = [await add(thread_id), await add(randomUUID())];
    expect((await claimed()).sort()).toEqual([next, neighbour].sort());
  });

  test('a state read before another run ended does not overwrite the state of that run', async () => {
    await using db = await open();
    const { queue, add } = queueStory(db);
    const threads = threadRepository(db);
    const thread_id = randomUUID();
    await add(thread_id);
    const [run] = await queue.claim({ worker_id: WORKER.worker_id, token: randomUUID(), limit: 1 });
    await db.run(sql`insert into checkpoints (thread_id, ns, checkpoint_id, checkpoint, versions, metadata)
      values (${thread_id}, '', 'c2', '{}', '{}', '{}')`);
    await queue.finish(run!.lease, successful());

    const stale = { values: { n: 1 }, status: 'interrupted', interrupts: {}, checkpoint_id: 'c1' } as const;
    expect(await threads.setState(thread_id, stale, '2026-11-20T12:00:00.000Z')).toBe('superseded');
    await threads.refresh(thread_id, stale);
    expect(await threads.get(thread_id)).toMatchObject({ status: 'idle', values: { n: 2 } });
    const fresh = { ...stale, checkpoint_id: 'c2' };
    expect(await threads.setState(thread_id, fresh, '2026-11-20T12:00:00.000Z')).toBe('updated');
  });

  test('a run created after a due one waits behind it', async () => {
    await using db = await open();
    const { add, states } = queueStory(db);
    const thread_id = randomUUID();
    const due = await add(thread_id, { order: { delay_ms: 3_600_000 } });
    await db.run(sql`update run_queue set not_before = '2020-01-01T00:00:00.000Z'`);
    const later = await add(thread_id);
    expect(await states(thread_id)).toEqual({ [due]: 'ready', [later]: 'blocked' });
  });
});

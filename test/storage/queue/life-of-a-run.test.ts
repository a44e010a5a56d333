import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { sql } from '../../../src/db/sql.ts';
import { runEventRepository } from '../../../src/storage/runs/events.ts';
import { threadRepository } from '../../../src/storage/threads/threads.ts';
import { describeEachStorage } from '../../support/databases.ts';
import { MARKERS, queueStory, successful, WORKER } from '../../support/queued-runs.ts';

describeEachStorage('the life of a run', (open) => {
  test('the end of a run updates status, thread, values, log and queue in one transaction', async () => {
    await using db = await open();
    const { queue, add, statusOf, states } = queueStory(db);
    const events = runEventRepository(db);
    const thread_id = randomUUID();
    const run_id = await add(thread_id);
    const [run] = await queue.claim({ worker_id: WORKER.worker_id, token: randomUUID(), limit: 1 });
    expect(await statusOf(run_id)).toBe('running');
    const frames = [
      { seq: 1, event: 'metadata', data: '{}' },
      { seq: 2, event: 'values', data: '{"n":2}' },
    ];

    await queue.finish(run!.lease, successful({ batch: { frames, writes: [], steps: [] } }));

    expect(await statusOf(run_id)).toBe('success');
    expect(await states(thread_id)).toEqual({});
    const { frames: log } = await events.readAfter(run_id, 0, 10);
    expect(log.map(({ seq, event }) => [seq, event])).toEqual([
      [1, 'metadata'],
      [2, 'values'],
      [3, '__end__'],
    ]);
    expect(await threadRepository(db).get(thread_id)).toMatchObject({ values: { n: 2 } });
  });

  test('a run with a temporary thread leaves only its log, for a limited time', async () => {
    await using db = await open();
    const { queue, add, statusOf } = queueStory(db);
    const events = runEventRepository(db);
    const run_id = await add(randomUUID());
    const [run] = await queue.claim({ worker_id: WORKER.worker_id, token: randomUUID(), limit: 1 });
    await queue.finish(run!.lease, successful({ remove_thread: true, log_retention_ms: -1 }));

    expect(await statusOf(run_id)).toBeUndefined();
    expect(await events.lastSeq(run_id)).toBe(1);
    // The event and the expiry.
    expect(await events.deleteExpired(10)).toBe(2);
    expect(await events.lastSeq(run_id)).toBe(0);
  });

  test('a delayed run waits until it is due, and lets others go first', async () => {
    await using db = await open();
    const { queue, add, claimed, states } = queueStory(db);
    const thread_id = randomUUID();
    const delayed = await add(thread_id, { order: { delay_ms: 3_600_000 } });
    const direct = await add(thread_id);
    expect(await states(thread_id)).toEqual({ [delayed]: 'scheduled', [direct]: 'ready' });
    expect(await claimed()).toEqual([direct]);
    const { next } = await queue.nextDue();
    expect(Date.parse(next?.due_at as string)).toBeGreaterThan(Date.parse('2026-01-01'));
    expect(next?.in_ms).toBeGreaterThan(3_000_000);
    expect(next?.in_ms).toBeLessThanOrEqual(3_600_000);
    expect(await queue.promoteDue()).toBe(false);
  });

  test('a delayed run whose time has come becomes ready', async () => {
    await using db = await open();
    const { queue, add, claimed, states } = queueStory(db);
    const thread_id = randomUUID();
    const run_id = await add(thread_id, { order: { delay_ms: 3_600_000 } });
    await db.run(sql`update run_queue set not_before = '2020-01-01T00:00:00.000Z'`);
    expect(await queue.promoteDue()).toBe(true);
    expect(await states(thread_id)).toEqual({ [run_id]: 'ready' });
    expect(await claimed()).toEqual([run_id]);
  });

  test('a run behind another one follows it, even after the clock was set back', async () => {
    await using db = await open();
    const { queue, add, states } = queueStory(db);
    const thread_id = randomUUID();
    await add(thread_id);
    const second = await add(thread_id);
    await db.run(sql`update run_queue set not_before = '2999-01-01T00:00:00.000Z' where run_id = ${second}`);
    const [run] = await queue.claim({ worker_id: WORKER.worker_id, token: randomUUID(), limit: 1 });
    expect(await queue.finish(run!.lease, successful())).toMatchObject({ promoted: true });
    expect(await states(thread_id)).toEqual({ [second]: 'ready' });
  });

  test('cancelling a waiting run ends its log and does not affect the executing one', async () => {
    await using db = await open();
    const { queue, add, statusOf } = queueStory(db);
    const thread_id = randomUUID();
    const head = await add(thread_id);
    const waiting = await add(thread_id);
    const how = {
      action: 'interrupt',
      error: { error: 'UserInterrupt', message: '' },
      log_retention_ms: 1,
    } as const;

    expect(await queue.cancel(thread_id, [waiting], how)).toMatchObject({
      stopping: [],
      ended: [waiting],
      spared: 0,
      promoted: false,
    });
    expect(await statusOf(waiting)).toBe('interrupted');
    expect(await statusOf(head)).toBe('pending');
    expect((await runEventRepository(db).readAfter(waiting, 0, 5)).frames).toEqual([
      { seq: 1, event: '__end__', data: '{"status":"interrupted"}' },
    ]);
  });

  test('a rollback deletes the checkpoints of a run, including the last ones of its worker', async () => {
    await using db = await open();
    const { queue, add, statusOf } = queueStory(db);
    const thread_id = randomUUID();
    const run_id = await add(thread_id);
    const [run] = await queue.claim({ worker_id: WORKER.worker_id, token: randomUUID(), limit: 1 });
    const how = {
      action: 'rollback',
      error: { error: 'UserRollback', message: '' },
      log_retention_ms: 1,
    } as const;
    await queue.cancel(thread_id, [run_id], how);
    expect(await statusOf(run_id)).toBeUndefined();

    expect(await queue.finish(run!.lease, successful())).toMatchObject({ ending: { status: 'rollback' } });
    expect(await db.get(sql`select 1 from thread_values where thread_id = ${thread_id}`)).toBeUndefined();
  });

  test('a queue entry without a run blocks no other run', async () => {
    await using db = await open();
    const { add, claimed, states } = queueStory(db);
    const stray = randomUUID();
    const lost = await add(stray);
    await db.run(sql`delete from runs where run_id = ${lost}`);
    const run_id = await add(randomUUID());
    expect(await claimed()).toEqual([run_id]);
    expect(await states(stray)).toEqual({});
  });

  test('a deleted run frees its thread for the next one', async () => {
    await using db = await open();
    const { queue, add, claimed, statusOf } = queueStory(db);
    const thread_id = randomUUID();
    const first = await add(thread_id);
    await claimed();
    const second = await add(thread_id);
    expect(await queue.deleteRun(thread_id, first)).toEqual({
      deleted: true,
      was_in_flight: true,
      promoted: true,
    });
    expect(await queue.deleteRun(thread_id, first)).toMatchObject({ deleted: false, promoted: false });
    expect(await statusOf(first)).toBeUndefined();
    expect(await claimed()).toEqual([second]);
  });

  test.for(['executes', 'waits'])(
    'a run that is deleted while it %s deletes its temporary thread',
    async (does) => {
      await using db = await open();
      const { queue, add, claimed } = queueStory(db);
      const [thread_id, shared] = [randomUUID(), randomUUID()];
      const own = { markers: { ...MARKERS, thread_retention: 'delete' } as const };
      const run_id = await add(thread_id, own);
      const first = await add(shared, own);
      if (does === 'executes') await claimed();
      const second = await add(shared);

      await queue.deleteRun(thread_id, run_id);
      await queue.deleteRun(shared, first);

      const threads = threadRepository(db);
      expect(await threads.get(thread_id)).toBeUndefined();
      expect(await threads.get(shared)).toBeDefined();
      expect(await claimed()).toEqual([second]);
    },
  );
});

import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import type { Cancellation } from '../../../src/storage/queue/cancel.ts';
import { threadRepository } from '../../../src/storage/threads/threads.ts';
import { describeEachDatabase } from '../../support/databases.ts';
import { KWARGS, newRun, queueStory, request, successful, WORKER } from '../../support/queued-runs.ts';

const STOP: Cancellation = {
  action: 'interrupt',
  error: { error: 'UserInterrupt', message: 'superseded' },
  log_retention_ms: 1000,
};

describeEachDatabase('the multitask strategies', (open) => {
  test('a second run of a thread waits behind the first and follows it', async () => {
    await using db = await open();
    const { queue, add, claimed, states } = queueStory(db);
    const thread_id = randomUUID();
    const first = await add(thread_id);
    const second = await add(thread_id);
    expect(await states(thread_id)).toEqual({ [first]: 'ready', [second]: 'blocked' });

    const [run] = await queue.claim({ worker_id: WORKER.worker_id, token: randomUUID(), limit: 10 });
    expect(run?.lease.run_id).toBe(first);
    expect(await claimed()).toEqual([]);

    const finished = await queue.finish(run!.lease, successful());
    expect(finished).toEqual({ outcome: 'finished', ending: { status: 'success' }, promoted: true });
    expect(await claimed()).toEqual([second]);
  });

  test('reject refuses a run while another is in flight, and stores nothing', async () => {
    await using db = await open();
    const { queue, add, statusOf } = queueStory(db);
    const thread_id = randomUUID();
    const first = await add(thread_id);
    const config = { configurable: { graph_id: 'other' } };
    const run = { ...newRun(thread_id), kwargs: { ...KWARGS, config } };
    const before = await threadRepository(db).get(thread_id);

    const outcome = await queue.enqueue({ ...request(run), others: 'reject' });

    expect(outcome).toEqual({ outcome: 'rejected', blocking: [first] });
    expect(await statusOf(run.run_id)).toBeUndefined();
    expect(await threadRepository(db).get(thread_id)).toEqual(before);
  });

  test('a run with a taken id creates no thread', async () => {
    await using db = await open();
    const { queue, add } = queueStory(db);
    const run_id = await add(randomUUID());
    const run = { ...newRun(randomUUID()), run_id };
    expect(await queue.enqueue({ ...request(run), has_client_id: true })).toEqual({ outcome: 'run exists' });
    expect(await threadRepository(db).get(run.thread_id)).toBeUndefined();
  });

  test('a pending run that starts before its cancellation arrives continues', async () => {
    await using db = await open();
    const { queue, add, claimed, states } = queueStory(db);
    const thread_id = randomUUID();
    const [first, second] = [await add(thread_id), await add(thread_id)];
    const named = await queue.inFlight('pending', 10);
    expect(named.map(({ run_id }) => run_id)).toEqual([first, second]);
    await claimed();
    const cancelled = await queue.cancel(thread_id, [first, second], STOP, 'pending');
    expect(cancelled).toMatchObject({ stopping: [], ended: [second], spared: 1 });
    expect(await states(thread_id)).toEqual({ [first]: 'running' });
  });

  test('interrupt ends waiting runs at once and asks the executing one to stop', async () => {
    await using db = await open();
    const { queue, add, claimed, statusOf, states } = queueStory(db);
    const thread_id = randomUUID();
    const executing = await add(thread_id);
    await claimed();
    const waiting = await add(thread_id);
    const run = newRun(thread_id);

    const outcome = await queue.enqueue({ ...request(run), others: STOP });

    expect(outcome).toMatchObject({
      outcome: 'queued',
      ready: false,
      stopping: [executing],
      ended: [waiting],
    });
    expect(await statusOf(executing)).toBe('interrupted');
    expect(await statusOf(waiting)).toBe('interrupted');
    // Its worker has not let go: the new run must not start beside it.
    expect(await states(thread_id)).toEqual({ [executing]: 'running', [run.run_id]: 'blocked' });
  });

  test('rollback removes the runs in flight', async () => {
    await using db = await open();
    const { queue, add, claimed, statusOf } = queueStory(db);
    const thread_id = randomUUID();
    const executing = await add(thread_id);
    await claimed();
    const waiting = await add(thread_id);

    await queue.enqueue({ ...request(newRun(thread_id)), others: { ...STOP, action: 'rollback' } });

    expect(await statusOf(executing)).toBeUndefined();
    expect(await statusOf(waiting)).toBeUndefined();
  });

  test.for<'enqueue' | 'reject' | Cancellation>(['enqueue', 'reject', STOP, { ...STOP, action: 'rollback' }])(
    '50 concurrent creates with %o never let two runs execute at once',
    async (others) => {
      await using db = await open();
      const { queue, claimed, states } = queueStory(db);
      const thread_id = randomUUID();

      const runs = Array.from({ length: 50 }, () => newRun(thread_id));
      await Promise.all(runs.map((run) => queue.enqueue({ ...request(run), others })));

      const heads = Object.values(await states(thread_id)).filter((state) => state !== 'blocked');
      expect(heads).toEqual(['ready']);
      expect(await claimed(50)).toHaveLength(1);
      expect(await claimed(50)).toEqual([]);
    },
  );

  test('a run on a missing thread is queued only if the thread may be created', async () => {
    await using db = await open();
    const { queue } = queueStory(db);
    const run = newRun(randomUUID());
    expect(await queue.enqueue({ ...request(run), thread: {} })).toEqual({
      outcome: 'missing thread',
    });
    expect(await queue.enqueue(request(run))).toMatchObject({ outcome: 'queued', ready: true });
    expect(await queue.enqueue({ ...request(run), has_client_id: true })).toEqual({ outcome: 'run exists' });
  });

  test('all runs of a batch are queued or, if one cannot be, none', async () => {
    await using db = await open();
    const { queue, statusOf } = queueStory(db);
    const [first, second, third] = [newRun(randomUUID()), newRun(randomUUID()), newRun(randomUUID())];

    const outcomes = await queue.enqueueAll([request(first), request(second)]);
    expect(outcomes.map(({ outcome }) => outcome)).toEqual(['queued', 'queued']);

    const refused = await queue.enqueueAll([
      request(third),
      { ...request(second), has_client_id: true },
      request(newRun(randomUUID())),
    ]);
    expect(refused.map(({ outcome }) => outcome)).toEqual(['queued', 'run exists']);
    expect(await statusOf(third.run_id)).toBeUndefined();
  });

  test('a batch with a run that cannot be stored fails with the reason and stores no run', async () => {
    await using db = await open();
    const { queue, statusOf } = queueStory(db);
    const [known, other] = [newRun(randomUUID()), newRun(randomUUID())];
    await queue.enqueue(request(known));
    await expect(queue.enqueueAll([request(other), request(known)])).rejects.toThrow(/unique/i);
    expect(await statusOf(other.run_id)).toBeUndefined();
  });
});

import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { LeaseLost } from '../../../src/core/errors.ts';
import { sql } from '../../../src/db/sql.ts';
import { runEventRepository } from '../../../src/storage/runs/events.ts';
import { describeEachDatabase } from '../../support/databases.ts';
import { attemptWrites, queueStory, successful, WORKER } from '../../support/queued-runs.ts';

const RULES = {
  worker_id: randomUUID(),
  max_attempts: 3,
  backoff_ms: 0,
  log_retention_ms: 1000,
  exhausted: { error: 'WorkerLost', message: 'gone' },
};
const UNCHARGED = { charge: false, delay_ms: 0, batch: { frames: [], writes: [], steps: [] } };
const FRAME = { seq: 1, event: 'values', data: '{}' };

describeEachDatabase('leases of workers', (open) => {
  test('a run whose worker lost its lease is claimed by another, and the first can write nothing more', async () => {
    await using db = await open();
    const { queue, add, statusOf } = queueStory(db);
    const run_id = await add(randomUUID());
    const [zombie] = await queue.claim({ worker_id: randomUUID(), token: randomUUID(), limit: 1 });
    const writes = attemptWrites(db, zombie!.lease);
    writes.addFrame(FRAME, false);
    await writes.commit();

    expect(await queue.reap(RULES)).toBe(1);
    const [second] = await queue.claim({ worker_id: WORKER.worker_id, token: randomUUID(), limit: 1 });

    expect(second).toMatchObject({ lease: { run_id, attempt: 2 }, last_seq: 1, has_checkpoint: false });
    writes.addFrame({ ...FRAME, seq: 2 }, false);
    await expect(writes.commit()).rejects.toBeInstanceOf(LeaseLost);
    expect(await queue.finish(zombie!.lease, successful())).toEqual({ outcome: 'lease lost' });
    expect(await runEventRepository(db).lastSeq(run_id)).toBe(1);
    expect(await statusOf(run_id)).toBe('running');
  });

  test("a run that has stored only a subgraph's checkpoint applies its input again", async () => {
    await using db = await open();
    const { queue, add } = queueStory(db);
    const thread_id = randomUUID();
    const run_id = await add(thread_id);
    for (const [ns, has_checkpoint] of [
      ['child', false],
      ['', true],
    ] as const) {
      await queue.claim({ worker_id: randomUUID(), token: randomUUID(), limit: 1 });
      await db.run(sql`insert into checkpoints (thread_id, ns, checkpoint_id, run_id, checkpoint, versions, metadata)
        values (${thread_id}, ${ns}, ${`1-${ns}`}, ${run_id}, '{}', '{}', '{}')`);
      expect(await queue.reap(RULES)).toBe(1);
      const [again] = await queue.claim({ worker_id: WORKER.worker_id, token: randomUUID(), limit: 1 });
      expect(again).toMatchObject({ lease: { run_id }, has_checkpoint });
      expect(await queue.requeue(again!.lease, UNCHARGED)).toMatchObject({ outcome: 'ready' });
    }
  });

  test('a worker that sends heartbeats keeps its runs', async () => {
    await using db = await open();
    const { queue, add, claimed } = queueStory(db);
    await queue.heartbeat(WORKER, 20_000);
    await add(randomUUID());
    await claimed();
    expect(await queue.reap(RULES)).toBe(0);

    await queue.deregister(WORKER.worker_id);
    expect(await queue.reap(RULES)).toBe(1);
  });

  test('a run that crashed its workers three times ends as an error, in its thread and its log', async () => {
    await using db = await open();
    const { queue, add, statusOf } = queueStory(db);
    const thread_id = randomUUID();
    const poison = await add(thread_id);
    const next = await add(thread_id);
    for (let attempt = 1; attempt <= 3; attempt++) {
      const [taken] = await queue.claim({ worker_id: randomUUID(), token: randomUUID(), limit: 1 });
      expect(taken?.lease).toMatchObject({ run_id: poison, attempt });
      await queue.reap(RULES);
    }
    expect(await statusOf(poison)).toBe('error');
    const { frames: log } = await runEventRepository(db).readAfter(poison, 0, 10);
    expect(log).toEqual([
      { seq: 1, event: 'error', data: '{"error":"WorkerLost","message":"gone"}' },
      { seq: 2, event: '__end__', data: '{"status":"error","error":"gone"}' },
    ]);
    const thread = await db.get(sql`select status from threads where thread_id = ${thread_id}`);
    expect(thread).toEqual({ status: 'error' });
    expect(await queueStory(db).claimed()).toEqual([next]);
  });

  test('a released run keeps its place in the queue, and its attempt if the server stopped it', async () => {
    await using db = await open();
    const { queue, add, statusOf } = queueStory(db);
    const thread_id = randomUUID();
    const run_id = await add(thread_id);
    await add(thread_id);
    const [first] = await queue.claim({ worker_id: WORKER.worker_id, token: randomUUID(), limit: 1 });
    expect(await queue.requeue(first!.lease, UNCHARGED)).toMatchObject({ outcome: 'ready' });
    expect(await statusOf(run_id)).toBe('pending');

    const [again] = await queue.claim({ worker_id: WORKER.worker_id, token: randomUUID(), limit: 1 });
    expect(again?.lease).toMatchObject({ run_id, attempt: 1 });
    expect(await queue.requeue(first!.lease, UNCHARGED)).toBeUndefined();
  });

  test('the held leases of a worker show which of its runs were cancelled', async () => {
    await using db = await open();
    const { queue, add } = queueStory(db);
    const thread_id = randomUUID();
    const run_id = await add(thread_id);
    const [run] = await queue.claim({ worker_id: WORKER.worker_id, token: randomUUID(), limit: 1 });
    const error = { error: 'UserInterrupt', message: 'asked' };
    await queue.cancel(thread_id, [run_id], { action: 'interrupt', error, log_retention_ms: 1 });

    expect(await queue.heldLeases(WORKER.worker_id)).toEqual([
      { run_id, thread_id, token: run!.lease.token, cancel_action: 'interrupt', error },
    ]);
    expect(await queue.finish(run!.lease, successful())).toMatchObject({ ending: { status: 'interrupted' } });
    expect(await queue.heldLeases(WORKER.worker_id)).toEqual([]);
  });
});

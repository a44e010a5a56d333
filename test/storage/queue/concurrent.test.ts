import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import type { Db } from '../../../src/db/db.ts';
import { raw, sql } from '../../../src/db/sql.ts';
import { idempotencyRepository } from '../../../src/storage/idempotency.ts';
import type { Cancellation } from '../../../src/storage/queue/cancel.ts';
import { runQueue } from '../../../src/storage/queue/queue.ts';
import { webhookOutbox } from '../../../src/storage/webhooks/outbox.ts';
import { describePostgresServer } from '../../support/databases.ts';
import { interleaved } from '../../support/interleaved-db.ts';
import { newRun, queueStory, request, successful, WORKER } from '../../support/queued-runs.ts';
import { until } from '../../support/until.ts';

const RELEASE = { charge: false, delay_ms: 0, batch: { frames: [], writes: [], steps: [] } };
const ROLLBACK: Cancellation = {
  action: 'rollback',
  error: { error: 'UserRollback', message: 'asked for' },
  log_retention_ms: 60_000,
};

function claimOf(limit: number) {
  return { worker_id: WORKER.worker_id, token: randomUUID(), limit };
}

/** Resolves when a statement on this database waits for another one's lock. */
function somebodyWaits(db: Db): Promise<void> {
  return until('a statement waits for a lock', async () => {
    const waiting = await db.get(sql`select 1 from pg_stat_activity
      where wait_event_type = 'Lock' and query ilike '%for update%'`);
    return waiting !== undefined;
  });
}

describePostgresServer('concurrent queue transactions', (open) => {
  test('a claim of several retried runs sends one statement at a time', async () => {
    const warnings: string[] = [];
    const note = ({ message }: Error) => void warnings.push(message);
    process.on('warning', note);
    await using db = await open();
    const { queue, add, claimed } = queueStory(db);
    for (let i = 0; i < 3; i++) await add(randomUUID());
    for (const { lease } of await queue.claim(claimOf(3))) await queue.requeue(lease, RELEASE);
    expect(await claimed()).toHaveLength(3);
    process.off('warning', note);
    expect(warnings).toEqual([]);
  });

  test('a cancel waits for a concurrent release, and ends the requeued run', async () => {
    await using db = await open();
    const { queue, add, states, statusOf } = queueStory(db);
    const thread_id = randomUUID();
    const [run_id, next] = [await add(thread_id), await add(thread_id)];
    const [run] = await queue.claim(claimOf(1));

    const stopping = interleaved(db);
    const commit = stopping.pause('before commit');
    const releasing = runQueue(stopping).requeue(run!.lease, RELEASE);
    await commit.reached;
    const cancelling = queue.cancel(thread_id, [run_id], ROLLBACK);
    await somebodyWaits(db);
    commit.resume();

    expect(await releasing).toMatchObject({ outcome: 'ready' });
    expect(await cancelling).toMatchObject({ stopping: [], ended: [run_id], spared: 0, promoted: true });
    expect(await states(thread_id)).toEqual({ [next]: 'ready' });
    expect(await statusOf(run_id)).toBeUndefined();
  });

  test('a release waits for a concurrent cancel, and does not requeue the run', async () => {
    await using db = await open();
    const { queue, add, states } = queueStory(db);
    const thread_id = randomUUID();
    const run_id = await add(thread_id);
    const [run] = await queue.claim(claimOf(1));
    const canceller = interleaved(db);
    const commit = canceller.pause('before commit');
    const cancelling = runQueue(canceller).cancel(thread_id, [run_id], ROLLBACK);
    await commit.reached;
    const releasing = queue.requeue(run!.lease, RELEASE);
    await somebodyWaits(db);
    commit.resume();

    expect(await cancelling).toMatchObject({ stopping: [run_id] });
    expect(await releasing).toBeUndefined();
    expect(await queue.finish(run!.lease, successful())).toMatchObject({ ending: { status: 'rollback' } });
    expect(await states(thread_id)).toEqual({});
  });

  test('a claim skips a run that is being cancelled, and takes the next one', async () => {
    await using db = await open();
    const { queue, add } = queueStory(db);
    const thread_id = randomUUID();
    const [run_id, next] = [await add(thread_id), await add(thread_id)];
    const canceller = interleaved(db);
    const read = canceller.pause('statement', /from run_queue where thread_id/);
    const cancelling = runQueue(canceller).cancel(thread_id, [run_id], ROLLBACK);
    await read.reached;
    expect(await queue.claim(claimOf(10))).toEqual([]);
    expect(await queue.isMoreReady()).toBe(true);
    read.resume();

    expect(await cancelling).toMatchObject({ stopping: [], ended: [run_id], spared: 0, promoted: true });
    expect((await queue.claim(claimOf(10))).map(({ lease }) => lease.run_id)).toEqual([next]);
    expect(await queue.isMoreReady()).toBe(false);
  });

  test('a run created while another is cancelled waits for the cancelled one to end', async () => {
    await using db = await open();
    const { queue, add } = queueStory(db);
    const thread_id = randomUUID();
    const run_id = await add(thread_id);
    await queue.claim(claimOf(1));
    const canceller = interleaved(db);
    const locked = canceller.pause('statement', /from run_queue where thread_id/);
    const cancelling = runQueue(canceller).cancel(thread_id, [run_id], ROLLBACK);
    await locked.reached;
    const another = queue.enqueue(request(newRun(thread_id)));
    await somebodyWaits(db);
    locked.resume();
    expect(await cancelling).toMatchObject({ stopping: [run_id] });
    expect(await another).toMatchObject({ outcome: 'queued', ready: false });
  });
});

/** The statistics of an idle server: one row when they were taken, then a burst. */
async function burst(db: Db, table: string, one: () => Promise<unknown>, rest: () => Promise<unknown>) {
  await db.run(raw(`alter table ${table} set (autovacuum_enabled = false)`));
  await one();
  await db.run(raw(`analyze ${table}`));
  await rest();
}

describePostgresServer('a limit is exact', (open) => {
  test('of a claim, even if the planner has wrong statistics of the queue', async () => {
    await using db = await open();
    const { queue, add } = queueStory(db);
    const many = () => Promise.all(Array.from({ length: 60 }, () => add(randomUUID())));
    await burst(db, 'run_queue', () => add(randomUUID()), many);
    for (const limit of [1, 3, 10]) expect(await queue.claim(claimOf(limit))).toHaveLength(limit);
  });

  test('of the dispatcher of webhooks', async () => {
    await using db = await open();
    const outbox = webhookOutbox(db);
    const url = 'https://receiver.example/hook';
    const enqueue = () => outbox.enqueue({ kind: 'test', url, body: '{}' });
    const many = () => Promise.all(Array.from({ length: 60 }, enqueue));
    await burst(db, 'webhook_outbox', enqueue, many);
    const { worker_id } = WORKER;
    const claim = { host: 'receiver.example', token: randomUUID(), worker_id, limit: 2, lease_ms: 60_000 };
    expect(await outbox.claim(claim)).toHaveLength(2);
  });

  test('two processes that answer one idempotency key create one run, also on different threads', async () => {
    await using db = await open();
    const { queue } = queueStory(db);
    const key = { owner: 'ada', key: 'k' };
    const rules = { retention_ms: 60_000, claim_ms: 60_000, worker_id: randomUUID(), is_processing: true };
    await idempotencyRepository(db).claim(key, 'one', rules);
    const ofKey = () => ({ ...request(newRun(randomUUID())), cargo: { idempotency: key } });
    const first = interleaved(db);
    const commit = first.pause('before commit');
    const adding = runQueue(first).enqueue(ofKey());
    await commit.reached;
    const second = queue.enqueue(ofKey());
    await somebodyWaits(db);
    commit.resume();
    expect(await adding).toMatchObject({ outcome: 'queued' });
    expect(await second).toMatchObject({ outcome: 'refused', refusal: { status: 409 } });
  });
});

import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { columns } from '../../../src/db/columns.ts';
import type { Db } from '../../../src/db/db.ts';
import { sql } from '../../../src/db/sql.ts';
import type { RunKwargs } from '../../../src/schemas/runs.ts';
import type { Cancellation } from '../../../src/storage/queue/cancel.ts';
import type { ClaimedRun } from '../../../src/storage/queue/claim.ts';
import { runQueue } from '../../../src/storage/queue/queue.ts';
import { describeEachStorage } from '../../support/databases.ts';
import { KWARGS, newRun, queueStory, request, successful, WORKER } from '../../support/queued-runs.ts';

const WEBHOOK = 'https://receiver.example/hook?token=s3cret';
const INTERRUPT: Cancellation = {
  action: 'interrupt',
  error: { error: 'UserInterrupt', message: 'asked for' },
  log_retention_ms: 60_000,
};
const ROLLBACK: Cancellation = {
  ...INTERRUPT,
  action: 'rollback',
  error: { error: 'UserRollback', message: '' },
};

/** A run with a webhook that a worker has begun. */
async function begun(db: Db, kwargs: Partial<RunKwargs> = {}): Promise<ClaimedRun> {
  const { queue } = queueStory(db);
  const run = newRun(randomUUID());
  await queue.enqueue(request({ ...run, kwargs: { ...run.kwargs, webhook: WEBHOOK, ...kwargs } }));
  const [claimed] = await queue.claim({ worker_id: WORKER.worker_id, token: randomUUID(), limit: 1 });
  return claimed as ClaimedRun;
}

async function told(db: Db): Promise<Record<string, unknown>[]> {
  const rows = await db.all(
    sql`select ${columns('webhook_outbox', 'body')} from webhook_outbox order by seq`,
  );
  return rows.map(({ body }) => JSON.parse(db.cipher.decryptText('webhook_outbox.body', body)));
}

const ended = (end: object = {}) => successful({ has_webhook: true, ...end });

describeEachStorage('the end of a run with a webhook', (open) => {
  test('is enqueued with the run, its times and its outcome', async () => {
    await using db = await open();
    const { queue } = queueStory(db);
    const { lease, run } = await begun(db);

    await queue.finish(lease, ended());

    expect(await told(db)).toEqual([
      {
        run_id: run.run_id,
        thread_id: run.thread_id,
        assistant_id: run.assistant_id,
        metadata: {},
        status: 'success',
        kwargs: { ...KWARGS, webhook: WEBHOOK },
        multitask_strategy: 'enqueue',
        created_at: run.created_at,
        updated_at: ended().at,
        langsmith_session_name: null,
        run_started_at: expect.stringMatching(/Z$/),
        run_ended_at: ended().at,
        values: { n: 2 },
      },
    ]);
  });

  test('is enqueued with the error of a failed run', async () => {
    await using db = await open();
    const { queue } = queueStory(db);
    const { lease } = await begun(db);
    const error = { error: 'ValueError', message: 'boom' };
    await queue.finish(lease, ended({ status: 'error', error }));
    expect(await told(db)).toMatchObject([{ status: 'error', error }]);
  });

  test('is enqueued when its thread is deleted with it, without values unless configured', async () => {
    await using db = await open();
    const { queue } = queueStory(db);
    const first = await begun(db, { temporary: true });
    await queue.finish(first.lease, ended({ remove_thread: true }));
    const second = await begun(db, { temporary: true });
    await runQueue(db, { webhooks: { enabled: true, stateless_values: true } }).finish(
      second.lease,
      ended({ remove_thread: true }),
    );

    expect(await told(db)).toMatchObject([
      { run_id: first.run.run_id, values: null },
      { run_id: second.run.run_id, values: { n: 2 } },
    ]);
  });

  test('is enqueued once, by the holder of the lease', async () => {
    await using db = await open();
    const { queue } = queueStory(db);
    const { lease } = await begun(db);
    await queue.finish({ ...lease, token: randomUUID() }, ended());
    expect(await told(db)).toEqual([]);
    await queue.finish(lease, ended());
    await queue.finish(lease, ended());
    expect(await told(db)).toHaveLength(1);
  });

  test('is enqueued when a cancelled run is released, with who requested it', async () => {
    await using db = await open();
    const { queue } = queueStory(db);
    const { lease, run } = await begun(db);
    await queue.cancel(run.thread_id, [run.run_id], INTERRUPT);
    expect(await told(db)).toEqual([]);
    await queue.finish(lease, ended({ status: 'error', error: { error: 'AbortError', message: '' } }));
    expect(await told(db)).toMatchObject([
      { status: 'interrupted', error: INTERRUPT.error, values: { n: 2 } },
    ]);
  });

  test('is enqueued for a rollback as soon as the run is deleted, and not again', async () => {
    await using db = await open();
    const { queue } = queueStory(db);
    const { lease, run } = await begun(db);
    await queue.cancel(run.thread_id, [run.run_id], ROLLBACK);
    await queue.finish(lease, ended());
    expect(await told(db)).toMatchObject([{ status: 'rollback', error: ROLLBACK.error, values: null }]);
  });

  test('is enqueued when another run takes its place', async () => {
    await using db = await open();
    const { queue, add } = queueStory(db);
    const { run, lease } = await begun(db);
    await add(run.thread_id, { others: ROLLBACK });
    await queue.finish(lease, ended());
    expect(await told(db)).toMatchObject([{ run_id: run.run_id, status: 'rollback' }]);
  });

  test('is not enqueued for a run that never started', async () => {
    await using db = await open();
    const { queue } = queueStory(db);
    for (const how of [INTERRUPT, ROLLBACK]) {
      const run = newRun(randomUUID());
      await queue.enqueue(request({ ...run, kwargs: { ...KWARGS, webhook: WEBHOOK } }));
      await queue.cancel(run.thread_id, [run.run_id], how);
    }
    expect(await told(db)).toEqual([]);
  });

  test('is enqueued for a started run that was requeued and cancelled before it continued', async () => {
    await using db = await open();
    const { queue } = queueStory(db);
    const { lease, run } = await begun(db);
    await queue.requeue(lease, { charge: false, delay_ms: 0, batch: { frames: [], writes: [], steps: [] } });
    await queue.cancel(run.thread_id, [run.run_id], INTERRUPT);
    expect(await told(db)).toMatchObject([{ status: 'interrupted', error: INTERRUPT.error }]);
  });

  test('is enqueued when its worker is lost: once its attempts are used up, or it was cancelled', async () => {
    await using db = await open();
    const { queue } = queueStory(db);
    const exhausted = { error: 'WorkerLostError', message: 'lost' };
    const rules = {
      worker_id: randomUUID(),
      max_attempts: 1,
      backoff_ms: 0,
      log_retention_ms: 60_000,
      exhausted,
    };
    await begun(db);
    await queue.reap(rules);
    const second = await begun(db);
    await queue.cancel(second.run.thread_id, [second.run.run_id], INTERRUPT);
    await queue.reap(rules);
    const third = await begun(db);
    await queue.cancel(third.run.thread_id, [third.run.run_id], ROLLBACK);
    await queue.reap(rules);

    expect(await told(db)).toMatchObject([
      { status: 'error', error: exhausted },
      { status: 'interrupted', error: INTERRUPT.error },
      { status: 'rollback', error: ROLLBACK.error },
    ]);
  });

  test('is not enqueued while webhooks are disabled, or without a URL', async () => {
    await using db = await open();
    const { queue } = queueStory(db);
    const { lease } = await begun(db);
    await runQueue(db, { webhooks: { enabled: false, stateless_values: false } }).finish(lease, ended());
    const other = await begun(db, { webhook: null });
    await queue.finish(other.lease, ended());
    expect(await told(db)).toEqual([]);
  });
});

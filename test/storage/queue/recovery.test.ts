import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { Unavailable } from '../../../src/core/errors.ts';
import type { Db } from '../../../src/db/db.ts';
import { sql } from '../../../src/db/sql.ts';
import type { QueueProblem } from '../../../src/storage/queue/context.ts';
import type { NewRun } from '../../../src/storage/queue/enqueue.ts';
import { runQueue } from '../../../src/storage/queue/queue.ts';
import { runEventRepository } from '../../../src/storage/runs/events.ts';
import { threadRepository } from '../../../src/storage/threads/threads.ts';
import { describeEachDatabase } from '../../support/databases.ts';
import { interleaved } from '../../support/interleaved-db.ts';
import { naming } from '../../support/naming.ts';
import {
  attemptWrites,
  FAILURE_RULES,
  newRun,
  queueStory,
  request,
  WORKER,
} from '../../support/queued-runs.ts';
import { freshThread, threadId } from '../../support/stored-threads.ts';

const REAP = { ...FAILURE_RULES, worker_id: randomUUID(), backoff_ms: 0 };
const NOTHING = { frames: [], writes: [], steps: [] };
const CANCEL = {
  action: 'interrupt',
  error: { error: 'UserInterrupt', message: 'asked for' },
  log_retention_ms: 60_000,
} as const;

function lostClaim(db: Db) {
  return runQueue(db).claim({ worker_id: randomUUID(), token: randomUUID(), limit: 10 });
}

/** A run without a thread, which makes one for itself. */
function stateless(): NewRun {
  const run = newRun(randomUUID());
  return request({ ...run, kwargs: { ...run.kwargs, temporary: true } }, { thread_retention: 'delete' });
}

/** A run that a cron made. */
async function ofCron(db: Db): Promise<NewRun> {
  const made = request(newRun(randomUUID()));
  const cron_id = randomUUID();
  await db.run(sql`insert into crons (cron_id, assistant_id, schedule, enabled, metadata, user_id, created_at, updated_at,
      payload) values (${cron_id}, ${randomUUID()}, '* * * * *', 1, '{}', '', ${made.run.created_at},
      ${made.run.created_at}, '{}')`);
  await db.run(sql`insert into cron_fires (cron_id, outcome, run_id, thread_id, fired_at)
    values (${cron_id}, 'started', ${made.run.run_id}, ${made.run.thread_id}, ${made.run.created_at})`);
  return made;
}

async function notedStatus(db: Db, { run }: NewRun): Promise<unknown> {
  return db.get(sql`select status from cron_fires where run_id = ${run.run_id}`);
}

/** As an attempt leaves them: one for the input, one for the first step, and one for each node that completed. */
async function addSupersteps(db: Db, thread_id: string, run_id: string, from: number, to: number) {
  for (let n = from; n <= to; n++) {
    await db.run(sql`insert into checkpoints (thread_id, ns, checkpoint_id, run_id, checkpoint, versions, metadata)
      values (${thread_id}, '', ${`c${String(n).padStart(3, '0')}`}, ${run_id}, '{}', '{}', '{}')`);
  }
}

describeEachDatabase('a run whose worker is lost', (open) => {
  test('deletes its temporary thread when its attempts are used up', async () => {
    await using db = await open();
    const { queue } = queueStory(db);
    const made = stateless();
    await queue.enqueue(made);
    for (let attempt = 1; attempt <= 3; attempt++) {
      expect(await lostClaim(db)).toHaveLength(1);
      expect(await queue.reap(REAP)).toBe(1);
    }
    expect(await threadRepository(db).get(made.run.thread_id)).toBeUndefined();
    const { frames: log } = await runEventRepository(db).readAfter(made.run.run_id, 0, 10);
    expect(log.map(({ event }) => event)).toEqual(['error', '__end__']);
  });

  test.for(['interrupt', 'rollback'] as const)(
    'deletes its temporary thread when it was cancelled by %s',
    async (action) => {
      await using db = await open();
      const { queue } = queueStory(db);
      const made = stateless();
      const { thread_id, run_id } = made.run;
      await queue.enqueue(made);
      await lostClaim(db);
      await queue.cancel(thread_id, [run_id], { ...CANCEL, action });
      expect(await queue.reap(REAP)).toBe(1);
      expect(await threadRepository(db).get(thread_id)).toBeUndefined();
      expect(await queue.position(run_id)).toBeUndefined();
    },
  );

  test('is recorded in the history of its cron, and so is one that was cancelled before it started', async () => {
    await using db = await open();
    const { queue } = queueStory(db);
    const [exhausted, cancelled, waiting] = [await ofCron(db), await ofCron(db), await ofCron(db)];
    for (const made of [exhausted, cancelled]) await queue.enqueue(made);
    for (let attempt = 1; attempt <= 3; attempt++) {
      await lostClaim(db);
      if (attempt === 1) await queue.cancel(cancelled.run.thread_id, [cancelled.run.run_id], CANCEL);
      await queue.reap(REAP);
    }
    await queue.enqueue(waiting);
    await queue.cancel(waiting.run.thread_id, [waiting.run.run_id], CANCEL);

    expect(await notedStatus(db, exhausted)).toEqual({ status: 'error' });
    expect(await notedStatus(db, cancelled)).toEqual({ status: 'interrupted' });
    expect(await notedStatus(db, waiting)).toEqual({ status: 'interrupted' });
  });

  test('does not block the recovery of others if it cannot be recovered, and is tried again', async () => {
    await using db = await open();
    const { queue, add, states } = queueStory(db);
    const threads = [randomUUID(), randomUUID(), randomUUID()];
    for (const thread_id of threads) await add(thread_id);
    await lostClaim(db);
    const problems: QueueProblem[] = [];
    const failing = interleaved(db);
    const reaper = runQueue(failing, { report: (problem) => problems.push(problem) });
    const first = failing.pause('before transaction');
    first.fail(new Error('this one cannot be read'));

    expect(await reaper.reap(REAP)).toBe(2);
    expect(problems).toMatchObject([{ what: naming('cannot be recovered'), thread_id: threads[0] }]);
    expect(Object.values(await states(threads[0] as string))).toEqual(['running']);
    expect(await queue.reap(REAP)).toBe(1);
  });

  test('is recovered later, like all others, if storage is unavailable', async () => {
    await using db = await open();
    const { queue, add } = queueStory(db);
    for (let n = 0; n < 5; n++) await add(randomUUID());
    await lostClaim(db);
    const away = interleaved(db);
    for (let n = 0; n < 3; n++) away.pause('before transaction').fail(new Unavailable('away'));
    await expect(runQueue(away).reap(REAP)).rejects.toThrow('away');
    expect(await queue.reap(REAP)).toBe(5);
  });

  test('is not charged for attempts that completed a step while another run kills the process', async () => {
    await using db = await open();
    const { queue, add, statusOf } = queueStory(db);
    const thread_id = randomUUID();
    const run_id = await add(thread_id);
    for (let loss = 1; loss <= 6; loss++) {
      const [claimed] = await lostClaim(db);
      expect(claimed?.lease.attempt).toBe(loss);
      await addSupersteps(db, thread_id, run_id, loss === 1 ? 1 : loss + 2, loss + 2);
      await queue.reap(REAP);
    }
    expect(await statusOf(run_id)).toBe('pending');
    for (let loss = 1; loss <= 3; loss++) {
      await lostClaim(db);
      await queue.reap(REAP);
    }
    expect(await statusOf(run_id)).toBe('error');
  });

  test('ends eventually, even if every attempt completes a step', async () => {
    await using db = await open();
    const { queue, add, statusOf } = queueStory(db);
    const thread_id = randomUUID();
    const run_id = await add(thread_id);
    for (let loss = 1; loss <= 30; loss++) {
      expect(await statusOf(run_id)).toBe('pending');
      await lostClaim(db);
      await addSupersteps(db, thread_id, run_id, loss === 1 ? 1 : loss + 2, loss + 2);
      await queue.reap(REAP);
    }
    expect(await statusOf(run_id)).toBe('error');
  });

  test('is not charged for an attempt that storage had failed', async () => {
    await using db = await open();
    const { queue, add, statusOf } = queueStory(db);
    const run_id = await add(randomUUID());
    for (let failure = 1; failure <= 4; failure++) {
      const [claimed] = await lostClaim(db);
      await queue.requeue(claimed!.lease, { charge: true, delay_ms: 0, batch: NOTHING });
    }
    await lostClaim(db);
    await queue.reap(REAP);
    expect(await statusOf(run_id)).toBe('pending');
    expect(await queue.position(run_id)).toMatchObject({ attempt: 5, failures: 1 });
  });

  test('has its worker deleted some time after the lease has ended', async () => {
    await using db = await open();
    const { queue } = queueStory(db);
    await queue.heartbeat(WORKER, -30_000);
    await queue.heartbeat({ ...WORKER, worker_id: randomUUID() }, -61_000);
    await queue.deleteExpiredWorkers();
    expect(await db.all(sql`select worker_id from workers`)).toEqual([{ worker_id: WORKER.worker_id }]);
  });
});

describeEachDatabase('a run whose attempts break', (open) => {
  test('ends when they break too often', async () => {
    await using db = await open();
    const { queue, add, statusOf } = queueStory(db);
    const thread_id = randomUUID();
    const [run_id, next] = [await add(thread_id), await add(thread_id)];
    for (let attempt = 1; attempt <= 3; attempt++) {
      expect(await statusOf(run_id)).toBe('pending');
      const [claimed] = await lostClaim(db);
      const how = { charge: true, delay_ms: 0, batch: NOTHING, failure: FAILURE_RULES };
      const outcome = attempt < 3 ? 'ready' : 'ended';
      expect(await queue.requeue(claimed!.lease, how)).toMatchObject({ outcome });
    }
    expect(await statusOf(run_id)).toBe('error');
    expect((await lostClaim(db)).map(({ lease }) => lease.run_id)).toEqual([next]);
  });

  test('counts the graph hosts that it may have ended, for whoever claims it next, and no other losses', async () => {
    await using db = await open();
    const { queue, add } = queueStory(db);
    const run_id = await add(randomUUID());
    const failure = { ...FAILURE_RULES, max_attempts: 10 };
    const ofHost = { failure_of: 'graph host' as const };
    const ends = [
      { ...ofHost, failure },
      { failure, failure_of: 'storage' as const },
      { ...ofHost, charge: false },
    ];
    const reasons: unknown[] = [];
    const counted: number[] = [];
    for (const end of [...ends, ...ends]) {
      const [claimed] = await lostClaim(db);
      counted.push(claimed!.host_losses);
      await queue.requeue(claimed!.lease, { charge: true, delay_ms: 0, batch: NOTHING, ...end });
      reasons.push((await queue.position(run_id))?.retry_reason);
    }
    expect(counted).toEqual([0, 1, 1, 1, 2, 2]);
    expect(reasons.slice(0, 3)).toEqual(['host lost', 'storage failed', 'host left']);
  });
});

describeEachDatabase('a thread that is deleted', (open) => {
  test('also deletes the log of a rolled-back run that still executes', async () => {
    await using db = await open();
    const { queue } = queueStory(db);
    const made = stateless();
    const { thread_id, run_id } = made.run;
    await queue.enqueue(made);
    const [claimed] = await lostClaim(db);
    const writes = attemptWrites(db, claimed!.lease);
    writes.addFrame({ seq: 1, event: 'values', data: '{}' }, false);
    await writes.commit();
    await queue.cancel(thread_id, [run_id], { ...CANCEL, action: 'rollback' });
    expect(await threadRepository(db).delete(thread_id)).toEqual([run_id]);
    expect(await runEventRepository(db).lastSeq(run_id)).toBe(0);
  });
});

describeEachDatabase('threads whose TTL has expired', (open) => {
  test('are deleted although an earlier one cannot be deleted', async () => {
    await using db = await open();
    const failing = interleaved(db);
    const threads = threadRepository(failing);
    for (const n of [1, 2, 3]) await threads.insert(freshThread(n), { strategy: 'delete', ttl: 0 });
    failing.pause('before transaction').fail(new Error('this one cannot'));
    const swept = await threads.expire(10);
    expect(swept).toMatchObject({ examined: 3, expired: 2, failed: [{ thread_id: threadId(1) }] });
    expect(await threads.count({})).toBe(1);
  });
});

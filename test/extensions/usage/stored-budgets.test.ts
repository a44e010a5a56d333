import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { systemClock } from '../../../src/core/clock.ts';
import { columns, number } from '../../../src/db/columns.ts';
import type { Db } from '../../../src/db/db.ts';
import { sql } from '../../../src/db/sql.ts';
import { BudgetMeter } from '../../../src/extensions/usage/budget-meter.ts';
import { type BudgetSubjects, budgetRepository } from '../../../src/extensions/usage/storage/budgets.ts';
import type { UsageAccount } from '../../../src/extensions/usage/storage/charges.ts';
import { usageRepository } from '../../../src/extensions/usage/storage/reports.ts';
import { placeOf, StepRecorder } from '../../../src/graphs/steps/recorder.ts';
import type { ClaimedRun } from '../../../src/storage/queue/claim.ts';
import { emptyBatch, flushBatch } from '../../../src/storage/runs/batch.ts';
import { admitBatch } from '../../../src/storage/runs/lease.ts';
import { deleteThread } from '../../../src/storage/threads/delete.ts';
import { describeEachDatabase, describePostgresServer, type OpenDatabase } from '../../support/databases.ts';
import { modelCall } from '../../support/model-call.ts';
import { successful, WORKER } from '../../support/queued-runs.ts';
import { attemptOf, CHARGING, chargingStory, NOON, TODAY } from './budget-attempt.ts';

const DAY_MS = 86_400_000;
const ALL_DAYS = { by: [], from: '2000-01-01', to: '2099-12-31', limit: 1, offset: 0 };

/** A run that a worker executes, and its buffer, whose batches are charged to `subjects`. */
async function begun(
  db: Db,
  subjects: BudgetSubjects,
  now = () => NOON,
  account?: UsageAccount,
  thread_id: string = randomUUID(),
) {
  await chargingStory(db).add(thread_id);
  return attemptOf(db, subjects, now, account);
}

describeEachDatabase('budgets', (open) => {
  test('count the usage of all attempts of a run, and that of the runs that share them', async () => {
    await using db = await open();
    const subjects = { user_day: 'alice', key_day: 'key', day: '' };
    using first = await begun(db, subjects);
    await first.step(10);
    await first.step(5);
    expect(first.meter.used.run).toEqual({ tokens: 15, cost_nanos: 0, steps: 2 });
    using second = await begun(db, { user_day: 'alice', day: '' });
    await second.step(100);
    const { used } = budgetRepository(db);
    expect(await used(subjects, TODAY, first.lease.run_id)).toEqual({
      run: { tokens: 15, cost_nanos: 0, steps: 2 },
      user_day: { tokens: 115, cost_nanos: 0, steps: 3 },
      key_day: { tokens: 15, cost_nanos: 0, steps: 2 },
      day: { tokens: 115, cost_nanos: 0, steps: 3 },
    });
    expect(await used(subjects, '2026-03-02')).toEqual({});

    const again = new BudgetMeter({ run_id: first.lease.run_id, subjects }, () => NOON);
    again.open(await used(subjects, TODAY, first.lease.run_id));
    expect(again.charge()).toBeUndefined();
    again.addSuperstep();
    expect(again.charge()?.totals).toEqual({ tokens: 15, cost_nanos: 0, steps: 3 });
  });

  test('are charged once if a batch is stored again after a lost acknowledgement', async () => {
    await using db = await open();
    const subjects = { user_day: 'alice' };
    using run = await begun(db, subjects);
    run.writes.addSteps([modelCall(1, 10)]);
    const batch = await run.writes.drain();
    expect(await run.queue.requeue(run.lease, { charge: false, delay_ms: 0, batch })).toMatchObject({
      outcome: 'ready',
    });
    const [again] = await run.queue.claim({ worker_id: WORKER.worker_id, token: randomUUID(), limit: 1 });
    await run.queue.finish((again as ClaimedRun).lease, { ...successful(), batch: { ...batch, follows: 0 } });
    expect(await budgetRepository(db).used(subjects, TODAY)).toMatchObject({ user_day: { tokens: 10 } });
  });

  test('count the usage of a run that is rolled back', async () => {
    await using db = await open();
    const subjects = { user_day: 'alice' };
    using run = await begun(db, subjects);
    run.writes.addSteps([modelCall(1, 10)]);
    await db.run(sql`update run_queue set cancel_action = 'rollback' where run_id = ${run.lease.run_id}`);
    await run.queue.finish(run.lease, { ...successful(), batch: await run.writes.drain() });
    expect(await budgetRepository(db).used(subjects, TODAY)).toMatchObject({ user_day: { tokens: 10 } });
  });

  test('count model calls beyond the limit of steps once, without a row for each', async () => {
    await using db = await open();
    const account = { assistant_id: randomUUID(), user_id: 'alice', key_id: '' };
    const subjects = { user_day: 'alice' };
    using run = await begun(db, subjects, undefined, account);
    const recorder = new StepRecorder('all', systemClock, { max_steps: 2 });
    for (let n = 0; n < 10; n++) {
      const call = {
        kind: 'model',
        name: 'Model',
        place: placeOf({}),
        model: 'small',
        provider: null,
      } as const;
      recorder.succeed(recorder.begin(call), { tokens_in: 60, tokens_cached: null, tokens_out: 40 });
    }
    run.writes.addSteps(recorder.take());
    const batch = await run.writes.drain();
    // The commit of the batch succeeds, and its answer is lost.
    await db.transaction('sync', async (tx) => {
      await admitBatch(tx, run.lease, 0);
      await flushBatch(tx, run.lease, batch, CHARGING);
    });
    await run.queue.finish(run.lease, { ...successful(), batch });
    expect(await budgetRepository(db).used(subjects, TODAY)).toMatchObject({ user_day: { tokens: 1000 } });
    const usage = await usageRepository(db).sum(ALL_DAYS);
    expect(usage).toMatchObject([{ calls: 10, unpriced_calls: 10, tokens_in: 600, tokens_out: 400 }]);
    const row = await db.get(sql`select count(*) as ${number('n')} from run_steps`);
    expect(row?.n).toBe(2);
  });

  test('count the usage of a run whose thread is deleted, and nothing twice', async () => {
    await using db = await open();
    const { sum } = usageRepository(db);
    const account = { assistant_id: randomUUID(), user_id: 'alice', key_id: '' };
    const thread_id = randomUUID();
    const subjects = { thread: thread_id, user_day: 'alice' };
    using run = await begun(db, subjects, undefined, account, thread_id);
    await run.step(10);
    run.writes.addSteps([modelCall(2, 5)]);
    const batch = await run.writes.drain();
    await run.queue.countLost(run.lease, batch);
    expect(await budgetRepository(db).used(subjects, TODAY)).toMatchObject({ user_day: { tokens: 10 } });

    await deleteThread(db, run.lease.thread_id);
    // Its worker hears of it late: meanwhile everything about ended runs is gone.
    await budgetRepository(db).deleteEndedRuns(10);
    await run.queue.countLost(run.lease, batch);
    expect(await budgetRepository(db).used(subjects, TODAY)).toEqual({
      user_day: { tokens: 15, cost_nanos: 0, steps: 1 },
    });
    expect(await sum(ALL_DAYS)).toMatchObject([{ calls: 2, tokens_in: 15 }]);
  });

  test('count the usage and steps of an attempt that lost its lease, and nothing else', async () => {
    await using db = await open();
    const account = { assistant_id: randomUUID(), user_id: 'alice', key_id: '' };
    const subjects = { user_day: 'alice' };
    using lost = await begun(db, subjects, undefined, account);
    const { queue, lease } = lost;
    await lost.step(10);
    lost.writes.addSteps([modelCall(2, 5)]);
    lost.writes.addFrame({ seq: 1, event: 'values', data: '{}' }, false);
    const batch = await lost.writes.drain();
    await queue.requeue(lease, { charge: false, delay_ms: 0, batch: emptyBatch() });
    using next = await attemptOf(db, subjects, undefined, account);
    await next.step(100);
    await queue.countLost(lease, batch);
    await next.step(1000);

    const { run, user_day } = await budgetRepository(db).used(subjects, TODAY, lease.run_id);
    expect([run?.tokens, user_day?.tokens]).toEqual([1110, 1115]);
    const sums = await usageRepository(db).sum(ALL_DAYS);
    expect(sums).toMatchObject([{ calls: 4, tokens_in: 1115 }]);
    const steps = await db.all(sql`select ${columns('run_steps', 'attempt, number')} from run_steps`);
    expect(steps.map(({ attempt, number }) => `${attempt}/${number}`).sort()).toEqual([
      '1/1',
      '1/2',
      '2/1',
      '2/2',
    ]);
    expect(await db.all(sql`select 1 from run_events`)).toEqual([]);
  });

  test('of a day reset at midnight UTC, even within a run', async () => {
    await using db = await open();
    let now = NOON;
    using run = await begun(db, { user_day: 'alice' }, () => now);
    await run.step(10);
    now += DAY_MS;
    await run.step(5);
    expect(run.meter.used).toMatchObject({ run: { tokens: 15 }, user_day: { tokens: 5 } });
  });

  test('are deleted with their thread, after their day, and after their run', async () => {
    await using db = await open();
    const budgets = budgetRepository(db);
    const thread_id = randomUUID();
    using run = await begun(db, { thread: thread_id, day: '' }, undefined, undefined, thread_id);
    await run.step(1);
    expect(await budgets.deleteDaysBefore(TODAY, 10)).toBe(0);
    expect(await budgets.deleteEndedRuns(10)).toBe(0);
    await run.queue.finish(run.lease, { ...successful(), batch: await run.writes.drain() });
    expect(await budgets.deleteEndedRuns(10)).toBe(1);
    expect(await budgets.deleteDaysBefore('2026-03-02', 10)).toBe(1);
    expect(await budgets.used({ thread: thread_id, day: '' }, TODAY)).toEqual({
      thread: { tokens: 1, cost_nanos: 0, steps: 1 },
    });
    await deleteThread(db, thread_id);
    expect(await budgets.used({ thread: thread_id, day: '' }, TODAY)).toEqual({});
  });
});

const LIMIT = 100;

describePostgresServer('budgets', (open: OpenDatabase) => {
  test('are exceeded by at most one superstep of each run that shares them', async () => {
    await using db = await open();
    const runs = [];
    for (let n = 0; n < 6; n++) runs.push(await begun(db, { user_day: 'alice', day: '' }));
    await Promise.all(
      runs.map(async (run) => {
        while ((run.meter.used.user_day?.tokens ?? 0) < LIMIT) await run.step(7);
      }),
    );
    const { user_day, day } = await budgetRepository(db).used({ user_day: 'alice', day: '' }, TODAY);
    expect(user_day).toEqual(day);
    expect(user_day?.tokens).toBeGreaterThanOrEqual(LIMIT);
    expect(user_day?.tokens).toBeLessThan(LIMIT + runs.length * 7);
    const ofRuns = runs.reduce((sum, { meter }) => sum + (meter.used.run?.tokens ?? 0), 0);
    expect(user_day?.tokens).toBe(ofRuns);
    for (const run of runs) run[Symbol.dispose]();
  });
});

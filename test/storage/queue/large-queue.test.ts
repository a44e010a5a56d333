import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { number, text } from '../../../src/db/columns.ts';
import type { Db } from '../../../src/db/db.ts';
import { raw, sql } from '../../../src/db/sql.ts';
import { NOW, nowPlus } from '../../../src/db/time.ts';
import { nextDue } from '../../../src/storage/queue/promote.ts';
import { queueCounts, queueStats } from '../../../src/storage/queue/stats.ts';
import { describeEachDatabase } from '../../support/databases.ts';
import { explaining } from '../../support/query-plans.ts';
import { queueStory, WORKER } from '../../support/queued-runs.ts';

/** Places in the queue alone: nothing here looks at the runs. Due from `seconds` ago to now, one after the other. */
async function fill(db: Db, state: 'ready' | 'blocked' | 'scheduled', count: number, seconds: number) {
  const uuid = raw(
    db.dialect === 'postgres'
      ? 'gen_random_uuid()'
      : `(substr(hex(randomblob(4)), 1, 8) || '-' || hex(randomblob(2)) || '-4' || substr(hex(randomblob(2)), 2) || '-a' || substr(hex(randomblob(2)), 2) || '-' || hex(randomblob(6)))`,
  );
  const at =
    db.dialect === 'postgres'
      ? sql`clock_timestamp() - (${count} - n)::float8 / ${count} * ${seconds} * interval '1 second'`
      : sql`strftime('%Y-%m-%dT%H:%M:%fZ', 'now', (-1.0 * (${count} - n) / ${count} * ${seconds}) || ' seconds')`;
  // Several statements: one for all may take a busy machine longer than a statement may.
  for (let done = 0; done < count; done += 5000) {
    await db.run(sql`
      with recursive numbers (n) as (select ${done} + 1 union all
        select n + 1 from numbers where n < ${Math.min(count, done + 5000)})
      insert into run_queue (run_id, thread_id, state, not_before)
      select ${uuid}, ${uuid}, ${state}, ${at} from numbers`);
  }
}

/** For how long the run at a share of the queue has waited by the clock of the database, in seconds. */
async function waitAt(db: Db, share: number): Promise<number> {
  const { n } = (await db.get(
    sql`select count(*) as ${number('n')} from run_queue where not_before <= ${NOW}`,
  ))!;
  const offset = Math.min(n - 1, Math.floor(share * n));
  const row = await db.get(sql`
    select not_before as ${text('at')}, ${NOW} as ${text('now')} from run_queue order by not_before limit 1 offset ${offset}`);
  return (Date.parse(row?.now ?? '') - Date.parse(row?.at ?? '')) / 1000;
}

/** The waits at these shares before and after the statistics are read: what these report lies between. */
async function measured(db: Db, first: number, last: number) {
  const before = [await waitAt(db, 0), await waitAt(db, last)] as const;
  const stats = await queueStats(db);
  const after = [await waitAt(db, 0), await waitAt(db, first)] as const;
  expectBetween(stats.pending_runs_wait_time_max_secs, before[0], after[0]);
  expectBetween(stats.pending_runs_wait_time_med_secs, before[1], after[1]);
  return { stats, longest: [before[0], after[0]] as const };
}

function expectBetween(value: number | null, low: number, high: number): void {
  expect(value).toBeGreaterThanOrEqual(low);
  expect(value).toBeLessThanOrEqual(high);
}

describeEachDatabase('a queue in which very many runs wait', (open) => {
  test('is measured by a sample, at the cost of a small one', async () => {
    await using db = await open();
    await fill(db, 'ready', 60_000, 1000);
    await fill(db, 'blocked', 30_000, 1000);
    // The median is that of a sample.
    const { stats, longest } = await measured(db, 0.4, 0.6);
    expect(stats.n_running).toBe(0);
    // PostgreSQL looks at some 500 pages of the 1,000 or so.
    const inexact = db.dialect === 'sqlite' ? 0 : 0.2;
    expect(Math.abs(stats.n_pending / 90_000 - 1)).toBeLessThanOrEqual(inexact);
    // The oldest ones of both states are next to each other.
    expectBetween(stats.pending_unblocked_runs_wait_time_max_secs, longest[0] - 10, longest[1] + 10);
    const counts = await queueCounts(db);
    expect(counts.n_running).toBe(0);
    expect(Math.abs(counts.n_pending / 90_000 - 1)).toBeLessThanOrEqual(inexact);
  });

  test('is measured exactly when it is small', async () => {
    await using db = await open();
    await fill(db, 'ready', 3, 300);
    await fill(db, 'scheduled', 2, -1000);
    // Due since 200, 100, 0 and 0 s; one more comes later. The median is between the second and the third.
    const { stats } = await measured(db, 0.25, 0.5);
    expect(stats).toMatchObject({ n_pending: 5, n_running: 0 });
    expect(await queueCounts(db)).toEqual({ n_pending: 5, n_running: 0 });
  });

  test('finds the next due run and the oldest run by index', async () => {
    await using db = await open();
    await fill(db, 'ready', 5000, 1000);
    await fill(db, 'scheduled', 5000, -1000);
    if (db.dialect === 'postgres') await db.run(raw('analyze run_queue'));
    const reader = explaining(db);
    const { next } = await nextDue(reader as unknown as Db);
    expect(next?.in_ms).toBeGreaterThan(0);
    for (const plan of reader.plans) expect(plan).toMatch(/run_queue_(due|ready)/);
    for (const plan of reader.plans) expect(plan).not.toMatch(/SCAN run_queue$|Seq Scan on run_queue/m);
  });

  test('promotes due runs behind running ones of their thread once, not at every poll', async () => {
    await using db = await open();
    const { queue, add, states } = queueStory(db);
    const thread_id = randomUUID();
    const head = await add(thread_id);
    await queue.claim({ worker_id: WORKER.worker_id, token: randomUUID(), limit: 1 });
    const waiting = await add(thread_id, { order: { delay_ms: 3_600_000 } });
    const other = await add(randomUUID(), { order: { delay_ms: 3_600_000 } });
    await db.run(sql`update run_queue set not_before = ${nowPlus(-1000)} where state = 'scheduled'`);
    expect(await queue.promoteDue()).toBe(true);
    expect(await states(thread_id)).toEqual({ [head]: 'running', [waiting]: 'blocked' });
    expect(await queue.position(other)).toMatchObject({ state: 'ready' });
    expect(await queue.promoteDue()).toBe(false);
  });
});

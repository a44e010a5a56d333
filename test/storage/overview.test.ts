import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { text } from '../../src/db/columns.ts';
import type { Db } from '../../src/db/db.ts';
import { raw, sql } from '../../src/db/sql.ts';
import { nowPlus } from '../../src/db/time.ts';
import { overviewReader } from '../../src/storage/overview.ts';
import { processRepository } from '../../src/storage/processes.ts';
import { heartbeat } from '../../src/storage/queue/heartbeat.ts';
import { deregister } from '../../src/storage/queue/workers.ts';
import { emptyBatch } from '../../src/storage/runs/batch.ts';
import { putAttempt } from '../../src/storage/runs/steps.ts';
import { describeEachDatabase } from '../support/databases.ts';
import { explaining } from '../support/query-plans.ts';
import { queueStory, successful, WORKER } from '../support/queued-runs.ts';
import { seedThreads } from '../support/seeded-threads.ts';

const HOUR_MS = 3_600_000;

/** A run that ended so long ago. */
async function ended(db: Db, status: 'success' | 'error' | 'timeout', ago_ms: number): Promise<void> {
  const { add, queue } = queueStory(db);
  const run_id = await add(randomUUID());
  const [claimed] = await queue.claim({ worker_id: WORKER.worker_id, token: randomUUID(), limit: 1 });
  await queue.finish(claimed!.lease, successful({ status }));
  await db.run(sql`update runs set ended_at = ${nowPlus(-ago_ms)} where run_id = ${run_id}`);
}

/** Ten thousand runs like the one that is there, which failed so long ago. */
async function manyFailed(db: Db, ago_ms: number): Promise<void> {
  const many =
    db.dialect === 'sqlite'
      ? sql`with recursive n (i) as (select 1 union all select i + 1 from n where i < 10000)`
      : sql`with n as (select i from generate_series(1, 10000) i)`;
  const uuid =
    db.dialect === 'sqlite'
      ? sql`printf('00000000-0000-4000-8000-%012d', i)`
      : sql`('00000000-0000-4000-8000-' || lpad(i::text, 12, '0'))::uuid`;
  await db.run(sql`insert into runs (run_id, thread_id, assistant_id, assistant_name, assistant_version, status, metadata, kwargs, multitask_strategy,
      attempt, created_at, updated_at, ended_at)
    ${many} select ${uuid}, thread_id, assistant_id, assistant_name, assistant_version, 'error', metadata, kwargs, multitask_strategy, attempt,
      created_at, updated_at, ${nowPlus(-ago_ms)}
    from n cross join (select * from runs limit 1) as one`);
  // PostgreSQL chooses by statistics, which a server in use has.
  if (db.dialect === 'postgres') await db.run(raw('analyze'));
}

describeEachDatabase('the overview', (open) => {
  test('counts how runs of the last day ended', async () => {
    await using db = await open();
    const overview = overviewReader(db);
    expect(await overview.endedRuns()).toEqual({
      success: 0,
      error: 0,
      timeout: 0,
      interrupted: 0,
      failed_last_hour: 0,
      since: null,
    });
    for (const status of ['success', 'success', 'error', 'timeout'] as const)
      await ended(db, status, HOUR_MS);
    await ended(db, 'error', 25 * HOUR_MS);
    for (const status of ['success', 'error', 'timeout'] as const) await ended(db, status, HOUR_MS / 2);

    expect(await overview.endedRuns()).toMatchObject({
      success: 3,
      error: 2,
      timeout: 2,
      interrupted: 0,
      failed_last_hour: 2,
    });
  });

  test('counts runs and failures by the hour of their end, with the median of their durations', async () => {
    await using db = await open();
    const overview = overviewReader(db);
    expect(await overview.endedByHour()).toEqual([]);
    await ended(db, 'success', 25 * HOUR_MS);
    for (const status of ['success', 'error', 'timeout'] as const) await ended(db, status, 5 * HOUR_MS);
    await db.run(sql`update runs set started_at = ${nowPlus(-5 * HOUR_MS - 2000)} where status <> 'success'`);
    await ended(db, 'success', HOUR_MS);
    const hours = await overview.endedByHour();
    expect(hours).toMatchObject([
      { ended: 3, failed: 2, median_seconds: expect.closeTo(2, 0) },
      { ended: 1, failed: 0 },
    ]);
    expect(hours[1]!.hour > hours[0]!.hour).toBe(true);
    expect(hours[0]!.hour).toMatch(/^\d{4}-\d\d-\d\dT\d\d$/);
  });

  test('counts only the newest ten thousand runs, and names the time since which it counts', async () => {
    await using db = await open();
    await ended(db, 'success', HOUR_MS);
    await manyFailed(db, 60_000);

    const counts = await overviewReader(db).endedRuns();
    expect(counts).toMatchObject({ success: 0, error: 10_000, failed_last_hour: 10_000 });
    const oldest = await db.get(sql`select min(ended_at) as ${text('at')} from runs where status = 'error'`);
    expect(counts.since).toBe(oldest?.at);
  });

  test('names the run that has been due for the longest time', async () => {
    await using db = await open();
    const overview = overviewReader(db);
    const { add } = queueStory(db);
    await add(randomUUID(), { order: { delay_ms: HOUR_MS } });
    expect(await overview.oldestWaiting()).toBeUndefined();
    const [ready, blocked, scheduled] = [await add(randomUUID()), randomUUID(), randomUUID()];
    expect(await overview.oldestWaiting()).toMatchObject({ run_id: ready, since: expect.any(String) });
    for (const [state, run_id, ago_ms] of [
      ['blocked', blocked, 60_000],
      ['scheduled', scheduled, 120_000],
    ] as const) {
      await db.run(sql`insert into run_queue (run_id, thread_id, state, not_before)
        values (${run_id}, ${randomUUID()}, ${state}, ${nowPlus(-ago_ms)})`);
      expect(await overview.oldestWaiting()).toMatchObject({ run_id });
    }
  });

  test('counts threads by status', async () => {
    await using db = await open();
    await seedThreads(db, 300);
    const { add } = queueStory(db);
    await add(randomUUID());
    await add(randomUUID(), { order: { delay_ms: HOUR_MS } });

    const overview = overviewReader(db);
    expect(await overview.threads()).toEqual({ busy: 1, interrupted: 3, error: 1 });
    expect(await overview.totalThreads()).toBe(302);
  });

  test('reads only indexes of runs', async () => {
    await using db = await open();
    await seedThreads(db, 2000);
    await ended(db, 'success', HOUR_MS);
    await manyFailed(db, 48 * HOUR_MS);
    const reader = explaining(db);
    const overview = overviewReader(reader);
    await overview.endedRuns();
    const ofRuns = reader.plans.join('\n');
    expect(ofRuns).toMatch(/COVERING INDEX runs_ended|Index Only Scan .*runs_ended/);
    await overview.oldestWaiting();
    for (const index of ['run_queue_ready', 'run_queue_blocked', 'run_queue_due'])
      if (db.dialect === 'sqlite') expect(reader.plans.join('\n')).toMatch(index);
    await overview.threads();
    expect(reader.plans.join('\n')).toMatch('threads_status');
  });

  test('names the engine and the size of the database', async () => {
    await using db = await open();
    const { engine, size_bytes } = await overviewReader(db).size();
    expect([engine, size_bytes > 50_000]).toEqual([db.dialect, true]);
  });
});

describeEachDatabase('the processes of a database', (open) => {
  test('are those with a lease, with their own data', async () => {
    await using db = await open();
    const processes = processRepository(db);
    const older = { ...WORKER, worker_id: randomUUID(), slots: 0 };
    await heartbeat(db, older, 60_000);
    await heartbeat(db, WORKER, 60_000);
    await heartbeat(db, { ...WORKER, worker_id: randomUUID() }, -1000);
    await processes.register({ worker_id: WORKER.worker_id, role: 'worker', hosts: 2 });

    const listed = await processes.list();
    expect(listed.map(({ worker_id }) => worker_id).toSorted()).toEqual(
      [older.worker_id, WORKER.worker_id].toSorted(),
    );
    const { graph_ids: _, ...known } = { graph_ids: [], ...WORKER };
    expect(listed).toContainEqual({ ...known, role: 'worker', hosts: 2, started_at: expect.any(String) });
    expect(listed).toContainEqual({
      ...known,
      worker_id: older.worker_id,
      slots: 0,
      role: null,
      hosts: null,
      started_at: expect.any(String),
    });
  });

  test('hold leases on the runs that they execute', async () => {
    await using db = await open();
    const processes = processRepository(db);
    const { add, queue } = queueStory(db);
    await heartbeat(db, WORKER, 60_000);
    const run_ids = [await add(randomUUID()), await add(randomUUID())];
    await add(randomUUID());
    await queue.claim({ worker_id: WORKER.worker_id, token: randomUUID(), limit: 2 });

    const leases = await processes.leases(10);
    expect(leases.map(({ run_id }) => run_id)).toEqual(run_ids);
    expect(leases[0]).toMatchObject({ attempt: 1, host: WORKER.host, pid: WORKER.pid });
    const { started_at, expires_at } = leases[0]!;
    expect(Date.parse(expires_at) - Date.parse(started_at ?? '')).toBeGreaterThan(50_000);
    expect(await processes.leases(1)).toHaveLength(1);
  });

  test('have the start time of each current attempt, even of uncharged ones', async () => {
    await using db = await open();
    const { add, queue } = queueStory(db);
    await heartbeat(db, WORKER, 60_000);
    await add(randomUUID());
    const claim = { worker_id: WORKER.worker_id, limit: 1 };
    const starts = [Date.UTC(2026, 1, 1), Date.UTC(2026, 1, 2)];
    for (const started of starts) {
      const [claimed] = await queue.claim({ ...claim, token: randomUUID() });
      const { lease } = claimed!;
      const attempt = { worker_id: WORKER.worker_id, started, status: 'running' } as const;
      await db.transaction('sync', async (tx) => putAttempt(tx, lease, attempt));
      if (started !== starts.at(-1))
        await queue.requeue(lease, { charge: false, delay_ms: 0, batch: emptyBatch() });
    }
    const [lease] = await processRepository(db).leases(1);
    expect(lease).toMatchObject({ attempt: 1, started_at: '2026-02-02T00:00:00.000Z' });
  });

  test('leave no rows when they stop', async () => {
    await using db = await open();
    const processes = processRepository(db);
    await heartbeat(db, WORKER, 60_000);
    await processes.register({ worker_id: WORKER.worker_id, role: 'all', hosts: 0 });
    await deregister(db, WORKER.worker_id);
    const next = { ...WORKER, worker_id: randomUUID() };
    await heartbeat(db, next, 60_000);
    await processes.register({ worker_id: next.worker_id, role: 'all', hosts: 0 });

    expect(await db.all(sql`select * from worker_details`)).toHaveLength(1);
  });
});

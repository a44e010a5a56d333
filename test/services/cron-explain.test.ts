import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { type Actor, systemActor } from '../../src/auth/actor.ts';
import { Unavailable } from '../../src/core/errors.ts';
import type { Db } from '../../src/db/db.ts';
import { cronExplain } from '../../src/services/crons/cron-explain.ts';
import { cronServer, settableClock } from '../support/crons.ts';
import { describeEachDatabase } from '../support/databases.ts';
import { naming } from '../support/naming.ts';
import { WORKER } from '../support/queued-runs.ts';

const HOUR = 3_600_000;
const ME = systemActor('r1');

async function story(
  db: Db,
  { fires_crons = true, ...options }: { fires_crons?: boolean; impersonate?: () => Actor } = {},
) {
  const clock = settableClock();
  const server = await cronServer(db, { clock, ...options });
  const { explain } = cronExplain({ ...server, crons: server.rows, clock, fires_crons });
  return { ...server, clock, explain: (cron_id: string) => explain(ME, cron_id) };
}

describeEachDatabase('the explanation of a cron', (open) => {
  test('names its next date, and reports that it has not fired yet', async () => {
    await using db = await open();
    const { create, explain } = await story(db);
    const { cron_id } = await create({ timezone: 'Europe/Berlin' });

    expect(await explain(cron_id)).toEqual({
      cron_id,
      state: 'scheduled',
      summary: naming(
        'Fires next at 2026-06-01T13:00:00.000Z',
        '"0 * * * *", Europe/Berlin',
        'not fired yet',
      ),
      schedule: '0 * * * *',
      timezone: 'Europe/Berlin',
      next_run_date: '2026-06-01T13:00:00.000Z',
      end_time: null,
      overdue_ms: 0,
      disabled_reason: null,
      fires: [],
    });
  });

  test('lists the outcomes of its last five times', async () => {
    await using db = await open();
    const { create, explain, clock, ticks } = await story(db);
    const { cron_id } = await create({});
    for (let hour = 0; hour < 6; hour++) {
      clock.pass(HOUR);
      await ticks.fireDue();
    }

    const { fires, summary } = await explain(cron_id);
    expect(fires).toHaveLength(5);
    const [last] = fires;
    expect(last).toMatchObject({ outcome: 'started', status: 'pending', tick: '2026-06-01T18:00:00.000Z' });
    expect(summary).toContain(
      `Its last time was 2026-06-01T18:00:00.000Z; its run ${last?.run_id} is pending.`,
    );
  });

  test('reports that the auth handlers do not answer, and when they are called again', async () => {
    await using db = await open();
    const rule = () => {
      throw new Unavailable('The handler of threads:create_run did not answer within 5 seconds.');
    };
    const impersonate = () => ({ ...systemActor('r2'), rules: [rule] });
    const { create, explain, clock, ticks } = await story(db, { impersonate });
    const { cron_id } = await create({});
    clock.pass(HOUR);
    await ticks.fireDue();
    clock.pass(5_000);
    await ticks.fireDue();
    const { state, summary } = await explain(cron_id);
    expect(state).toBe('due');
    expect(summary).toEqual(
      naming(
        'Due since 2026-06-01T13:00:00.000Z',
        '2 times',
        'again at 2026-06-01T13:00:15.000Z',
        'threads:create_run',
      ),
    );
  });

  test('reports why a due time created no run', async () => {
    await using db = await open();
    const { create, explain, clock, ticks, thread } = await story(db);
    const thread_id = await thread();
    await create({}, thread_id);
    const rejected = await create({ multitask_strategy: 'reject', schedule: '5 13 * * *' }, thread_id);
    clock.pass(HOUR);
    await ticks.fireDue();
    clock.pass(5 * 60_000);
    await ticks.fireDue();

    expect((await explain(rejected.cron_id)).summary).toMatch(
      /Its last time was 2026-06-01T13:05:00\.000Z, without a run \(rejected\): Blocked by run .*\.$/,
    );
  });

  test('reports that it was triggered manually', async () => {
    await using db = await open();
    const { create, explain, crons } = await story(db);
    const { cron_id } = await create({});
    const { run_id } = await crons.trigger(ME, cron_id);

    expect((await explain(cron_id)).summary).toEqual(naming('triggered at', `${run_id} is pending`));
  });

  test('reports that it is due, then overdue, and where to look', async () => {
    await using db = await open();
    const { create, explain, clock } = await story(db);
    const { cron_id } = await create({});
    clock.pass(HOUR + 1000);
    expect(await explain(cron_id)).toMatchObject({ state: 'due', overdue_ms: 1000 });

    clock.pass(HOUR);
    expect(await explain(cron_id)).toMatchObject({
      state: 'overdue',
      overdue_ms: HOUR + 1000,
      summary: naming('Overdue since 2026-06-01T13:00:00.000Z', 'this process', 'log'),
    });
  });

  test('reports that no process fires crons', async () => {
    await using db = await open();
    const { create, explain, clock, queue } = await story(db, { fires_crons: false });
    const { cron_id } = await create({});
    clock.pass(2 * HOUR);
    expect((await explain(cron_id)).summary).toEqual(naming('no other process'));

    await queue.heartbeat(WORKER, 60_000);
    await queue.heartbeat({ ...WORKER, worker_id: randomUUID() }, 60_000);
    expect((await explain(cron_id)).summary).toEqual(naming('the other process', 'crons.enabled'));
  });

  test('reports who paused it', async () => {
    await using db = await open();
    const { create, explain, clock, ticks, thread, threads, crons } = await story(db);
    const paused = await create({ enabled: false });
    expect(await explain(paused.cron_id)).toMatchObject({
      state: 'paused',
      summary: expect.stringMatching(/^Paused: "enabled" is false\./),
    });

    const thread_id = await thread();
    const { cron_id } = await create({}, thread_id);
    await threads.delete(thread_id);
    clock.pass(HOUR);
    await ticks.fireDue();
    expect(await explain(cron_id)).toMatchObject({
      state: 'disabled',
      disabled_reason: `Thread with ID '${thread_id}' not found`,
      summary: expect.stringContaining(
        `Disabled by the server: Thread with ID '${thread_id}' not found. Fix this`,
      ),
    });
    await crons.update(ME, cron_id, { enabled: true });
    expect((await explain(cron_id)).state).toBe('scheduled');
  });

  test('reports that it has ended', async () => {
    await using db = await open();
    const { create, explain, clock, ticks } = await story(db);
    const { cron_id } = await create({ end_time: '2026-06-01T13:30:00Z' });
    clock.pass(HOUR);
    await ticks.fireDue();

    expect(await explain(cron_id)).toMatchObject({
      state: 'ended',
      next_run_date: null,
      summary: naming('Ended: ', 'end_time 2026-06-01T13:30:00Z'),
    });
  });

  test('is refused to a user who may not read the cron', async () => {
    await using db = await open();
    const { create, clock, ...server } = await story(db);
    const { cron_id } = await create({});
    const { explain } = cronExplain({ ...server, crons: server.rows, clock, fires_crons: true });
    const bob = { ...ME, rules: [() => ({ metadata: { contains: { owner: 'bob' } } })] };
    await expect(explain(bob, cron_id)).rejects.toThrow('Not Found');
  });
});

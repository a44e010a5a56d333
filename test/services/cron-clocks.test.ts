import { expect, test } from 'vitest';
import { systemActor } from '../../src/auth/actor.ts';
import { Conflict, NotFound } from '../../src/core/errors.ts';
import { columns } from '../../src/db/columns.ts';
import { sql } from '../../src/db/sql.ts';
import { cronServer, settableClock } from '../support/crons.ts';
import { describeEachDatabase } from '../support/databases.ts';
import { failure } from '../support/naming.ts';

const HOUR = 3_600_000;
const MINUTE = 60_000;

describeEachDatabase('cron times that passed while no server ran', (open) => {
  test('create one run for all of them', async () => {
    await using db = await open();
    const clock = settableClock();
    const { cron_id } = await (await cronServer(db, { clock })).create({});
    clock.pass(5 * HOUR + 20 * MINUTE);
    const restarted = await cronServer(db, { clock });
    await restarted.ticks.recalculateDates();
    await restarted.ticks.fireDue();
    await restarted.ticks.fireDue();
    expect(await restarted.history(cron_id)).toEqual(['13:00 started']);
    expect((await restarted.get(cron_id)).next_run_date).toBe('2026-06-01T18:00:00.000Z');
  });

  test('create no run if configured so, which the cron reports', async () => {
    await using db = await open();
    const clock = settableClock();
    const server = await cronServer(db, { clock, missed: 'skip' });
    const { cron_id } = await server.create({});
    clock.pass(HOUR + 30_000);
    await server.ticks.fireDue();
    clock.pass(5 * HOUR);
    await server.ticks.fireDue();
    expect(await server.history(cron_id)).toEqual(['13:00 started', '14:00 skipped']);
    expect(await server.get(cron_id)).toMatchObject({
      enabled: true,
      next_run_date: '2026-06-01T19:00:00.000Z',
    });
  });

  test('create no run when the cron has ended in the meantime', async () => {
    await using db = await open();
    const clock = settableClock();
    const server = await cronServer(db, { clock });
    const { cron_id } = await server.create({ end_time: '2026-06-01T13:30:00Z' });
    clock.pass(2 * HOUR);
    await server.ticks.fireDue();
    expect(await server.history(cron_id)).toEqual(['13:00 skipped']);
    expect((await server.get(cron_id)).next_run_date).toBeNull();
  });
});

describeEachDatabase('the end of a cron', (open) => {
  test('that is set while a time is served creates no run after it', async () => {
    await using db = await open();
    const clock = settableClock();
    let setEnd = async () => {};
    const server = await cronServer(db, {
      clock,
      impersonate: (user, request_id) => ({
        ...systemActor(request_id),
        ...{ user, rules: [() => setEnd().then(() => undefined)] },
      }),
    });
    const { cron_id } = await server.create({});
    setEnd = async () => {
      await server.crons.update(systemActor('test'), cron_id, { end_time: '2026-06-01T13:30:00Z' });
    };
    clock.pass(HOUR);
    await server.ticks.fireDue();
    expect((await server.get(cron_id)).next_run_date).toBeNull();
    clock.pass(HOUR);
    await server.ticks.fireDue();
    expect(await server.history(cron_id)).toEqual(['13:00 started']);
  });
});

describeEachDatabase('clocks that are changed', (open) => {
  test('back do not fire past times again or delay the cron until the old date', async () => {
    await using db = await open();
    const clock = settableClock();
    const server = await cronServer(db, { clock });
    const { cron_id } = await server.create({});
    for (let hour = 0; hour < 3; hour++) {
      clock.pass(HOUR);
      await server.ticks.fireDue();
    }
    clock.set('2026-06-01T13:30:00.000Z');
    await server.ticks.recalculateDates();
    expect((await server.get(cron_id)).next_run_date).toBe('2026-06-01T14:00:00.000Z');
    for (let step = 0; step < 6; step++) {
      clock.pass(30 * MINUTE);
      await server.ticks.fireDue();
    }
    const served = ['13:00 started', '14:00 started', '15:00 started', '16:00 started'];
    expect(await server.history(cron_id)).toEqual(served);
  });

  test('far ahead and back again do not stop a cron', async () => {
    await using db = await open();
    const clock = settableClock();
    const server = await cronServer(db, { clock });
    const { cron_id } = await server.create({});
    clock.set('2031-01-01T00:30:00.000Z');
    await server.ticks.fireDue();
    clock.set('2026-06-01T12:40:00.000Z');
    await server.ticks.recalculateDates();
    await server.ticks.fireDue();
    expect(await server.history(cron_id)).toEqual(['13:00 started']);
    clock.pass(2 * HOUR);
    await server.ticks.fireDue();
    expect(await server.history(cron_id)).toEqual(['13:00 started', '14:00 started']);
  });

  test('or changed time zone rules have the date of a cron corrected at the next start', async () => {
    await using db = await open();
    const clock = settableClock();
    const server = await cronServer(db, { clock });
    const { cron_id } = await server.create({ schedule: '0 9 * * *', timezone: 'Europe/Berlin' });
    await db.run(sql`update crons set next_run_date = ${'2026-06-02T08:00:00.000Z'}`);
    await server.ticks.recalculateDates();
    expect((await server.get(cron_id)).next_run_date).toBe('2026-06-02T07:00:00.000Z');
  });
});

describeEachDatabase('several servers on one database', (open) => {
  test('create one run for each time: 100 crons, 4 times, 4 servers', async () => {
    await using db = await open();
    const clock = settableClock();
    const servers = await Promise.all(Array.from({ length: 4 }, () => cronServer(db, { clock })));
    const [first] = servers;
    const crons = await Promise.all(
      Array.from({ length: 100 }, () => first?.create({ schedule: '* * * * *', on_run_completed: 'keep' })),
    );
    for (let minute = 0; minute < 4; minute++) {
      clock.pass(MINUTE);
      await Promise.all(servers.map(({ ticks }) => ticks.fireDue()));
    }
    const fires = await db.all(
      sql`select ${columns('cron_fires', 'cron_id, tick, run_id')} from cron_fires where outcome = 'started'`,
    );
    expect(fires).toHaveLength(400);
    expect(new Set(fires.map(({ cron_id, tick }) => `${cron_id} ${tick}`)).size).toBe(400);
    const runs = await db.all(sql`select ${columns('runs', 'run_id')} from runs`);
    expect(new Set(runs.map(({ run_id }) => run_id))).toEqual(new Set(fires.map(({ run_id }) => run_id)));
    expect(runs).toHaveLength(400);
    expect(crons).toHaveLength(100);
  });

  test('whose clocks differ create one run for each time', async () => {
    await using db = await open();
    const [fast, slow] = [settableClock('2026-06-01T12:00:30.000Z'), settableClock()];
    const ahead = await cronServer(db, { clock: fast });
    const behind = await cronServer(db, { clock: slow });
    const { cron_id } = await ahead.create({ schedule: '* * * * *' });
    for (let step = 0; step < 6; step++) {
      for (const clock of [fast, slow]) clock.pass(30_000);
      await Promise.all([ahead.ticks.fireDue(), behind.ticks.fireDue()]);
      await behind.ticks.recalculateDates();
    }
    expect(await ahead.history(cron_id)).toEqual(['12:01 started', '12:02 started', '12:03 started']);
  });
});

describeEachDatabase('a manually triggered run of a cron', (open) => {
  test('is created at once, even for a paused cron, and the schedule is unchanged', async () => {
    await using db = await open();
    const clock = settableClock();
    const server = await cronServer(db, { clock });
    const me = systemActor('r1');
    const { cron_id, next_run_date } = await server.create({ input: { x: 1 } });
    const run = await server.crons.trigger(me, cron_id);
    expect(run).toMatchObject({ status: 'pending', metadata: { cron_id }, kwargs: { input: { x: 1 } } });
    expect((await server.get(cron_id)).next_run_date).toBe(next_run_date);
    clock.pass(HOUR);
    await server.ticks.fireDue();
    await server.crons.update(me, cron_id, { enabled: false });
    await server.crons.trigger(me, cron_id);
    expect(await server.history(cron_id)).toEqual([
      'triggered started',
      '13:00 started',
      'triggered started',
    ]);
    expect(await server.fires(cron_id)).toMatchObject([
      { tick: null },
      {},
      { tick: null, run_id: run.run_id },
    ]);
  });

  test('is refused while another run blocks it, and when its thread is deleted', async () => {
    await using db = await open();
    const server = await cronServer(db, { clock: settableClock() });
    const me = systemActor('r1');
    const thread_id = await server.thread();
    const { cron_id } = await server.create({ multitask_strategy: 'reject' }, thread_id);
    await server.crons.trigger(me, cron_id);
    await expect(server.crons.trigger(me, cron_id)).rejects.toThrow(failure(Conflict, 'already running'));
    await server.threads.delete(thread_id);
    await expect(server.crons.trigger(me, cron_id)).rejects.toThrow(failure(NotFound, thread_id));
    expect(await server.get(cron_id)).toMatchObject({ enabled: true });
    expect(await server.history(cron_id)).toEqual(['triggered started']);
  });

  test('is deleted from the history after its retention', async () => {
    await using db = await open();
    const clock = settableClock();
    const server = await cronServer(db, { clock });
    const { cron_id } = await server.create({});
    for (let hour = 0; hour < 5; hour++) {
      clock.pass(HOUR);
      await server.ticks.fireDue();
    }
    expect(await server.cronFires.deleteBefore('2026-06-01T15:30:00.000Z', 2)).toBe(2);
    expect(await server.cronFires.deleteBefore('2026-06-01T15:30:00.000Z', 2)).toBe(1);
    expect(await server.history(cron_id)).toEqual(['16:00 started', '17:00 started']);
  });
});

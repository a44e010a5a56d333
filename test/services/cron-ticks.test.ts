import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { systemActor } from '../../src/auth/actor.ts';
import { timestamp } from '../../src/core/clock.ts';
import { TooManyRequests } from '../../src/core/errors.ts';
import { systemAssistantId } from '../../src/core/ids.ts';
import { sql } from '../../src/db/sql.ts';
import type { CronPatch } from '../../src/schemas/crons.ts';
import { cronServer, settableClock } from '../support/crons.ts';
import { describeEachDatabase } from '../support/databases.ts';

const HOUR = 3_600_000;
const MINUTE = 60_000;

describeEachDatabase('a time of a cron', (open) => {
  test('creates no run and no thread while an extension refuses it, and the cron stays enabled', async () => {
    await using db = await open();
    const clock = settableClock();
    const reason = 'Enough for today.';
    const admit = async () =>
      timestamp(clock.now()) < '2026-06-02' ? new TooManyRequests(reason, 3600) : undefined;
    const server = await cronServer(db, { clock, rider: { name: 'toy', admit } });
    const { cron_id } = await server.create({ schedule: '0 13 * * *' });
    clock.pass(HOUR);
    await server.ticks.fireDue();
    const [fire] = await server.fires(cron_id);
    expect(fire).toMatchObject({ outcome: 'failed', run_id: null, detail: reason });
    expect(await db.all(sql`select 1 from threads`)).toEqual([]);
    await expect(server.crons.trigger(systemActor('r1'), cron_id)).rejects.toThrow(reason);
    expect(await db.all(sql`select 1 from threads`)).toEqual([]);
    expect(await server.get(cron_id)).toMatchObject({
      enabled: true,
      next_run_date: '2026-06-02T13:00:00.000Z',
    });
    clock.pass(24 * HOUR);
    await server.ticks.fireDue();
    expect(await server.history(cron_id)).toEqual(['13:00 failed', '13:00 started']);
  });

  test('creates a run with the payload of the cron, and sets the next date', async () => {
    await using db = await open();
    const clock = settableClock();
    const server = await cronServer(db, { clock });
    const { cron_id } = await server.create({
      input: { x: 1 },
      context: { tone: 'dry' },
      metadata: { report: 'daily' },
      webhook: 'https://93.184.215.14/hook',
      durability: 'exit',
      on_run_completed: 'keep',
      run_id: randomUUID(),
      after_seconds: 60,
    });
    await server.ticks.fireDue();
    expect(await server.history(cron_id)).toEqual([]);

    clock.pass(HOUR);
    await server.ticks.fireDue();
    await server.ticks.fireDue();
    const [fired, ...more] = await server.fires(cron_id);
    expect(more).toEqual([]);
    expect(fired).toMatchObject({ tick: '2026-06-01T13:00:00.000Z', outcome: 'started', status: 'pending' });
    expect(await server.get(cron_id)).toMatchObject({ next_run_date: '2026-06-01T14:00:00.000Z' });

    const run = await server.runs.get(undefined, String(fired?.run_id));
    expect(run).toMatchObject({
      assistant_id: systemAssistantId('echo'),
      created_at: '2026-06-01T13:00:00.000Z',
      metadata: { report: 'daily', cron_id },
      kwargs: {
        input: { x: 1 },
        context: { tone: 'dry', cron_id },
        config: { configurable: { tone: 'dry', cron_id } },
        webhook: 'https://93.184.215.14/hook',
        durability: 'exit',
        temporary: true,
        on_completion: 'keep',
      },
    });
    const thread = await server.threads.get(String(fired?.thread_id));
    expect(thread?.metadata).toMatchObject({ report: 'daily', cron_id, graph_id: 'echo' });
  });

  test('applies the multitask strategy to runs in flight on its thread', async () => {
    await using db = await open();
    const clock = settableClock();
    const server = await cronServer(db, { clock });
    const thread_id = await server.thread();
    const waiting = await server.create({ metadata: { n: 1 } }, thread_id);
    const rejected = await server.create({ multitask_strategy: 'reject', schedule: '5 13 * * *' }, thread_id);
    const interrupting = await server.create(
      { multitask_strategy: 'interrupt', schedule: '10 13 * * *' },
      thread_id,
    );

    clock.pass(HOUR);
    await server.ticks.fireDue();
    clock.pass(5 * MINUTE);
    await server.ticks.fireDue();
    const [first] = await server.fires(waiting.cron_id);
    expect(await server.fires(rejected.cron_id)).toMatchObject([
      { outcome: 'rejected', detail: `Blocked by run ${first?.run_id}.`, run_id: null, status: null },
    ]);
    expect((await server.get(rejected.cron_id)).next_run_date).toBe('2026-06-02T13:05:00.000Z');

    clock.pass(5 * MINUTE);
    await server.ticks.fireDue();
    expect(await server.fires(interrupting.cron_id)).toMatchObject([
      { outcome: 'started', status: 'pending' },
    ]);
    expect(await server.fires(waiting.cron_id)).toMatchObject([{ status: 'interrupted' }]);
  });

  test('before its end_time is the last one', async () => {
    await using db = await open();
    const clock = settableClock();
    const server = await cronServer(db, { clock });
    const { cron_id } = await server.create({ end_time: '2026-06-01T16:00:00+02:00' });
    for (let hour = 0; hour < 4; hour++) {
      clock.pass(HOUR);
      await server.ticks.fireDue();
    }
    expect(await server.history(cron_id)).toEqual(['13:00 started', '14:00 started']);
    expect(await server.get(cron_id)).toMatchObject({ enabled: true, next_run_date: null });
    expect(await server.ticks.nextDue()).toBeUndefined();
  });

  test('survives a patch of other fields, and does not fire while the cron is paused', async () => {
    await using db = await open();
    const clock = settableClock();
    const server = await cronServer(db, { clock });
    const { cron_id } = await server.create({});
    const patch = (changes: CronPatch) => server.crons.update(systemActor('r1'), cron_id, changes);
    clock.pass(HOUR);
    await patch({ metadata: { a: 1 }, enabled: true });
    await server.ticks.fireDue();
    await patch({ enabled: false });
    clock.pass(3 * HOUR + MINUTE);
    await server.ticks.fireDue();
    await patch({ enabled: true });
    await server.ticks.fireDue();
    clock.pass(HOUR);
    await server.ticks.fireDue();
    expect(await server.history(cron_id)).toEqual(['13:00 started', '17:00 started']);
  });

  test('creates the run for the user who created the cron', async () => {
    await using db = await open();
    const clock = settableClock();
    const server = await cronServer(db, { clock });
    const user = { identity: 'ada', permissions: ['crons'], org: 'analytical' };
    const cron = await server.create({}, null, { ...systemActor('r1'), user });
    expect(cron.user_id).toBe('ada');
    expect(cron).not.toHaveProperty('run_as');
    clock.pass(HOUR);
    await server.ticks.fireDue();
    const [fired] = await server.fires(cron.cron_id);
    const run = await server.runs.get(undefined, String(fired?.run_id));
    expect(run?.kwargs).toMatchObject({
      config: { configurable: { langgraph_auth_user: user, langgraph_auth_user_id: 'ada', user_id: 'ada' } },
    });
  });
});

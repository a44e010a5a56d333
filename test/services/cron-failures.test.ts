import { randomUUID } from 'node:crypto';
import { Auth, HTTPException } from '@langchain/langgraph-sdk/auth';
import { expect, test } from 'vitest';
import { type Actor, type Rule, systemActor } from '../../src/auth/actor.ts';
import { authHandlers } from '../../src/auth/handlers.ts';
import { Forbidden, Unavailable } from '../../src/core/errors.ts';
import { systemAssistantId } from '../../src/core/ids.ts';
import { sql } from '../../src/db/sql.ts';
import type { Cron } from '../../src/schemas/crons.ts';
import { cronServer, settableClock } from '../support/crons.ts';
import { describeEachDatabase } from '../support/databases.ts';

const HOUR = 3_600_000;
const MINUTE = 60_000;
const ADA = { identity: 'ada', permissions: [] };
const NEEDS_HANDLER = { metadata: { needs: 'handler' } };

/** Whether a rule is asked about the run of such a cron. */
function needsHandler({ metadata }: Record<string, unknown>): boolean {
  return (metadata as { needs?: string } | undefined)?.needs === 'handler';
}

describeEachDatabase('a cron that cannot create its run', (open) => {
  test('is paused with the reason when its thread is deleted, until it is resumed', async () => {
    await using db = await open();
    const clock = settableClock();
    const server = await cronServer(db, { clock });
    const thread_id = await server.thread();
    const { cron_id } = await server.create({}, thread_id);
    await server.threads.delete(thread_id);
    clock.pass(HOUR);
    await server.ticks.fireDue();
    expect(await server.get(cron_id)).toMatchObject({
      enabled: false,
      next_run_date: null,
      disabled_reason: `Thread with ID '${thread_id}' not found`,
    });
    expect(server.log.filter(({ message }) => message === 'cron disabled')).toHaveLength(1);

    const on = await server.crons.update(systemActor('r1'), cron_id, { enabled: true });
    expect(on).toMatchObject({ disabled_reason: null, next_run_date: '2026-06-01T14:00:00.000Z' });
  });

  test('creates the missing thread if it may', async () => {
    await using db = await open();
    const clock = settableClock();
    const server = await cronServer(db, { clock });
    const thread_id = randomUUID();
    const { cron_id } = await server.create({ if_not_exists: 'create' }, thread_id);
    clock.pass(HOUR);
    await server.ticks.fireDue();
    expect(await server.fires(cron_id)).toMatchObject([{ outcome: 'started', thread_id }]);
  });

  test('is paused when its assistant is no longer configured', async () => {
    await using db = await open();
    const clock = settableClock();
    const server = await cronServer(db, { clock });
    const { cron_id } = await server.create({});
    await db.run({ strings: ['delete from assistants'], parts: [] });
    clock.pass(HOUR);
    await server.ticks.fireDue();
    const disabled_reason = `Assistant '${systemAssistantId('echo')}' not found`;
    expect(await server.get(cron_id)).toMatchObject({ enabled: false, disabled_reason });
  });

  test('is paused when its time zone is no longer known, and other crons fire', async () => {
    await using db = await open();
    const clock = settableClock();
    const server = await cronServer(db, { clock });
    const [first, second, fine] = await Promise.all([
      server.create({}),
      server.create({}),
      server.create({}),
    ]);
    for (const { cron_id } of [first, second]) {
      await db.run(sql`update crons set timezone = 'Mars/X' where cron_id = ${cron_id}`);
    }
    await server.ticks.recalculateDates();
    await server.crons.update(systemActor('r1'), first.cron_id, { timezone: 'UTC', enabled: true });
    await db.run(sql`update crons set timezone = 'Mars/X' where cron_id = ${first.cron_id}`);
    clock.pass(HOUR);
    await server.ticks.fireDue();
    for (const { cron_id } of [first, second]) {
      const reason = expect.stringContaining("Invalid timezone 'Mars/X'");
      expect(await server.get(cron_id)).toMatchObject({ enabled: false, disabled_reason: reason });
    }
    expect(await server.history(fine.cron_id)).toEqual(['13:00 started']);
  });

  test('is paused when its user is refused, but not when the auth rules themselves fail, and other crons fire', async () => {
    await using db = await open();
    const clock = settableClock();
    const ruled = (_event: string, value: Record<string, unknown>) => {
      const { rule } = (value['metadata'] ?? {}) as { rule?: string };
      if (rule === 'forbid') throw new Forbidden('Forbidden');
      if (rule === 'break') throw new Error('secret');
      return undefined;
    };
    const impersonate = (): Actor => ({ ...systemActor('r2'), rules: [ruled] });
    const server = await cronServer(db, { clock, impersonate });
    const forbidden = await server.create({ metadata: { rule: 'forbid' } });
    const broken = await server.create({ metadata: { rule: 'break' } });
    const fine = await server.create({});
    for (let hour = 0; hour < 2; hour++) {
      clock.pass(HOUR);
      await server.ticks.fireDue();
    }
    expect(await server.get(forbidden.cron_id)).toMatchObject({
      enabled: false,
      disabled_reason: 'Forbidden',
    });
    expect(await server.history(broken.cron_id)).toEqual(['13:00 failed', '14:00 failed']);
    expect(JSON.stringify(await server.fires(broken.cron_id))).not.toContain('secret');
    expect(await server.history(fine.cron_id)).toEqual(['13:00 started', '14:00 started']);
  });

  test.each([408, 425, 429])(
    'continues after its user was refused temporarily, with status %i',
    async (status) => {
      await using db = await open();
      const clock = settableClock();
      let isRefused = true;
      const { authorize } = authHandlers(
        new Auth()
          .authenticate(() => 'ada')
          .on('threads:create_run', () => {
            if (isRefused) throw new HTTPException(status, { message: 'Not now' });
          }),
      );
      const rule: Rule = async (event, value) => void (await authorize(event, value, ADA));
      const impersonate = (): Actor => ({ ...systemActor('r2'), rules: [rule] });
      const server = await cronServer(db, { clock, impersonate });
      const { cron_id } = await server.create({});
      clock.pass(HOUR);
      await server.ticks.fireDue();
      isRefused = false;
      clock.pass(HOUR);
      await server.ticks.fireDue();
      expect(await server.get(cron_id)).toMatchObject({ enabled: true, disabled_reason: null });
      expect(await server.history(cron_id)).toEqual(['13:00 failed', '14:00 started']);
    },
  );

  test('stays due while the auth handlers are unavailable, and other crons fire', async () => {
    await using db = await open();
    const clock = settableClock();
    let isThere = false;
    const rule: Rule = (_event, value) => {
      if (!isThere && needsHandler(value)) throw new Unavailable('No answer.');
      return undefined;
    };
    const impersonate = (): Actor => ({ ...systemActor('r2'), rules: [rule] });
    const server = await cronServer(db, { clock, impersonate });
    const waiting: Cron[] = [];
    for (let n = 0; n < 20; n++) waiting.push(await server.create(NEEDS_HANDLER));
    const fine = await server.create({ schedule: '1 13 * * *' });
    clock.pass(HOUR + MINUTE);
    await server.ticks.fireDue();
    expect(await server.history(fine.cron_id)).toEqual(['13:01 started']);
    isThere = true;
    clock.pass(5_000);
    await server.ticks.fireDue();
    for (const { cron_id } of waiting) expect(await server.history(cron_id)).toEqual(['13:00 started']);
  });

  test('is retried with increasing delays while the auth handlers are unavailable, and delays no other cron', async () => {
    await using db = await open();
    const clock = settableClock();
    let tries = 0;
    const rule: Rule = (event, value) => {
      if (event !== 'threads:create_run' || !needsHandler(value)) return undefined;
      tries += 1;
      throw new Unavailable('No answer.');
    };
    const impersonate = (): Actor => ({ ...systemActor('r2'), rules: [rule] });
    const server = await cronServer(db, { clock, impersonate });
    const { cron_id } = await server.create(NEEDS_HANDLER);
    await server.create({ schedule: '5 13 * * *' });
    clock.pass(HOUR);
    const dates: unknown[] = [];
    for (let n = 0; n < 8; n++) {
      await server.ticks.fireDue();
      const next = await server.ticks.nextDue();
      dates.push(next?.slice(11, 19));
      clock.pass(Date.parse(String(next)) - clock.now());
    }
    const after = [
      '13:00:05',
      '13:00:15',
      '13:00:35',
      '13:01:15',
      '13:02:35',
      '13:05:00',
      '13:05:15',
      '13:10:15',
    ];
    expect(dates).toEqual(after);
    // The other cron has fired at 13:05.
    expect(tries).toBe(7);
    expect(server.deferrals.ids).toEqual([cron_id]);
    await server.crons.delete(systemActor('r1'), cron_id);
    await server.ticks.fireDue();
    expect(server.deferrals.ids).toEqual([]);
  });

  test('continues after the auth handlers never answered, and other crons fire', async () => {
    await using db = await open();
    const clock = settableClock();
    let isHanging = true;
    const rule: Rule = (_event, value) =>
      isHanging && needsHandler(value) ? new Promise<never>(() => {}) : undefined;
    const impersonate = (): Actor => ({ ...systemActor('r2'), rules: [rule] });
    const server = await cronServer(db, { clock, impersonate, rule_limit_ms: 1 });
    const waiting: Cron[] = [];
    for (let n = 0; n < 20; n++) waiting.push(await server.create(NEEDS_HANDLER));
    const fine = await server.create({ schedule: '1 13 * * *' });
    clock.pass(HOUR + MINUTE);
    await server.ticks.fireDue();
    expect(await server.history(fine.cron_id)).toEqual(['13:01 started']);
    isHanging = false;
    clock.pass(HOUR - MINUTE);
    await server.ticks.fireDue();
    for (const { cron_id } of waiting)
      expect(await server.history(cron_id)).toEqual(['13:00 failed', '14:00 started']);
  });
});

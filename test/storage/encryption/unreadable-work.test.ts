import { expect, test } from 'vitest';
import { sql } from '../../../src/db/sql.ts';
import { cronServer, settableClock } from '../../support/crons.ts';
import { describeEncrypted } from '../../support/databases.ts';
import { dispatching } from '../../support/dispatching.ts';
import { naming } from '../../support/naming.ts';
import { receiver } from '../../support/receiver.ts';
import { tamper } from '../../support/tampered-rows.ts';

describeEncrypted('undecryptable work does not delay other work:', (open) => {
  test('a webhook is retried later, and its delivery has the reason', async () => {
    await using db = await open();
    await using hook = await receiver();
    await using story = dispatching(db);
    const sealed = await story.enqueue({ url: hook.url, body: '{"n":1}' });
    const other = await story.enqueue({ url: hook.url, body: '{"n":2}' });
    await tamper(db, 'webhook_outbox.body', 'delivery_id', sealed);

    await story.turn();

    expect(hook.received.map(({ body }) => body)).toEqual([{ n: 2 }]);
    expect(await story.look(other)).toMatchObject({ status: 'delivered' });
    expect(await story.look(sealed)).toMatchObject({
      status: 'pending',
      attempts: [{ status_code: null, error: naming('not sent: ', 'decrypted') }],
    });
    expect(JSON.stringify(story.log)).toContain('webhook_outbox.body');
  });

  test('a cron creates no run, reports it, and continues with the next date', async () => {
    await using db = await open();
    const clock = settableClock();
    const server = await cronServer(db, { clock });
    const sealed = await server.create({});
    const other = await server.create({});
    await tamper(db, 'crons.payload', 'cron_id', sealed.cron_id);

    clock.pass(3_600_000);
    await server.ticks.fireDue();

    const outcomes = await db.all(sql`select cron_id, outcome from cron_fires order by outcome`);
    expect(outcomes).toEqual([
      { cron_id: sealed.cron_id, outcome: 'failed' },
      { cron_id: other.cron_id, outcome: 'started' },
    ]);
    await server.ticks.recalculateDates();
    expect(await server.ticks.nextDue()).toBe('2026-06-01T14:00:00.000Z');
  });
});

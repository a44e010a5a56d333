import { expect, test } from 'vitest';
import type { Db } from '../../../src/db/db.ts';
import { raw, sql } from '../../../src/db/sql.ts';
import { cronServer, settableClock } from '../../support/crons.ts';
import { describeEncrypted } from '../../support/databases.ts';
import { dispatching } from '../../support/dispatching.ts';
import { naming } from '../../support/naming.ts';
import { receiver } from '../../support/receiver.ts';
import { taskStory } from '../../support/stored-tasks.ts';

/** Puts a value into a column that was sealed for another. */
async function tamper(db: Db, column: `${string}.${string}`, key: string, id: string): Promise<void> {
  const [table, name] = column.split('.') as [string, string];
  const other = db.cipher.encryptText('another.column', 'x');
  const value = column === 'webhook_outbox.body' ? other : `"${other}"`;
  await db.run(sql`update ${raw(table)} set ${raw(name)} = ${value} where ${raw(key)} = ${id}`);
}

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

  test('an A2A task is skipped', async () => {
    await using db = await open();
    const { tasks, add, set } = taskStory(db);
    const ids = [await add(), await add(), await add()].toSorted() as [string, string, string];
    for (const id of ids) await set(id, 'success');
    await tamper(db, 'a2a_tasks.artifacts', 'task_id', ids[0]);

    const page = await tasks.unfinalized(undefined, 1);
    expect(page.map(({ task_id }) => task_id)).toEqual([ids[1]]);
    expect(await tasks.unfinalized(ids[1], 10)).toMatchObject([{ task_id: ids[2] }]);
  });
});

import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import type { Db } from '../../../src/db/db.ts';
import { raw, sql } from '../../../src/db/sql.ts';
import { runQueue } from '../../../src/storage/queue/queue.ts';
import { webhookOutbox } from '../../../src/storage/webhooks/outbox.ts';
import { describeEachDatabase } from '../../support/databases.ts';
import { delivery } from '../../support/outbox.ts';
import { explaining } from '../../support/query-plans.ts';
import { FAILURE_RULES } from '../../support/queued-runs.ts';

/** Copies the one delivery of this status. */
async function addCopies(db: Db, status: string, count: number): Promise<void> {
  await db.run(sql`
    with recursive numbers (n) as (select 1 union all select n + 1 from numbers where n < ${count})
    insert into webhook_outbox (kind, metadata, url, shown_url, host, headers, status, next_at, created_at, round_at, body)
    select kind, metadata, url, shown_url, host, headers, ${status}, next_at, created_at, round_at, body
    from webhook_outbox cross join numbers where seq = (select min(seq) from webhook_outbox)`);
}

describeEachDatabase('an outbox with very many deliveries', (open) => {
  test('is counted up to a bound, and the oldest is found without passing over dead ones', async () => {
    await using db = await open();
    await webhookOutbox(db).enqueue(delivery());
    await addCopies(db, 'dead', 12_000);
    await addCopies(db, 'pending', 20);
    await db.run(raw('analyze'));

    const reader = explaining(db);
    const stats = await webhookOutbox(reader as unknown as Db).stats();
    expect(stats).toEqual({ pending: 21, dead: 10_001, oldest_pending_secs: expect.any(Number) });
    const [plan = ''] = reader.plans;
    expect(plan.match(/webhook_outbox_status/g)).toHaveLength(3);
    expect(plan).not.toMatch(/Seq Scan on webhook_outbox|SCAN webhook_outbox|webhook_outbox_pkey/);
  });

  test('is not read to list its hosts, but only the first delivery of each', async () => {
    await using db = await open();
    const outbox = webhookOutbox(db);
    await outbox.enqueue(delivery());
    await addCopies(db, 'pending', 10_000);
    await db.run(sql`update webhook_outbox set host = ${raw("seq || '.example'")} where seq % 2 = 0`);
    // PostgreSQL keeps statistics by itself; on SQLite nobody analyses.
    if (db.dialect === 'postgres') await db.run(raw('analyze webhook_outbox'));

    const reader = explaining(db);
    expect(await webhookOutbox(reader as unknown as Db).pendingHosts()).toHaveLength(5001);
    const [plan = ''] = reader.plans;
    expect(plan).toMatch('webhook_outbox_due');
    expect(plan).not.toMatch(/Seq Scan on webhook_outbox|webhook_outbox_status/);
  });

  test('is not read for claims of dead workers, but only the index of claims', async () => {
    await using db = await open();
    const outbox = webhookOutbox(db);
    await outbox.enqueue(delivery());
    await addCopies(db, 'pending', 20_000);
    const [dead, token] = [randomUUID(), randomUUID()];
    const host = 'receiver.example';
    await outbox.claim({ host, token, worker_id: dead, limit: 2, lease_ms: 60_000 });

    // PostgreSQL keeps statistics by itself; on SQLite nobody analyses.
    if (db.dialect === 'postgres') await db.run(raw('analyze webhook_outbox'));

    const reader = explaining(db);
    const queue = runQueue(reader as unknown as Db);
    const lost: string[] = [];
    const onLostSenders = (worker_ids: readonly string[]) => lost.push(...worker_ids);
    await queue.reap({ ...FAILURE_RULES, worker_id: randomUUID(), backoff_ms: 0, onLostSenders });
    expect(lost).toEqual([dead]);
    const [plan = ''] = reader.plans;
    expect(plan).toMatch('webhook_outbox_worker');
    expect(plan).not.toMatch(/Seq Scan on webhook_outbox|SCAN o$|SCAN o\n|webhook_outbox_status/);
  });
});

import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { sql } from '../../../src/db/sql.ts';
import { heartbeatAndSearch } from '../../../src/storage/queue/heartbeat.ts';
import { webhookOutbox } from '../../../src/storage/webhooks/outbox.ts';
import { describePostgresServer } from '../../support/databases.ts';
import { delivery } from '../../support/outbox.ts';
import { queueStory, WORKER } from '../../support/queued-runs.ts';

const LEASE_MS = 60_000;

describePostgresServer('a heartbeat that searches for runs and deliveries of dead processes', (open) => {
  test('renews the lease and finds nothing of live processes', async () => {
    await using db = await open();
    const { add, claimed, queue } = queueStory(db);
    const other = { ...WORKER, worker_id: randomUUID() };
    expect(await heartbeatAndSearch(db, other, LEASE_MS)).toBe(false);
    expect(await queue.isOnlyWorker(WORKER.worker_id)).toBe(false);
    await queue.heartbeat(WORKER, LEASE_MS);
    await add(randomUUID());
    expect(await claimed()).toHaveLength(1);
    expect(await heartbeatAndSearch(db, other, LEASE_MS)).toBe(false);
  });

  test('finds a run whose worker has no lease, unless it is its own run', async () => {
    await using db = await open();
    const { add, claimed } = queueStory(db);
    await add(randomUUID());
    expect(await claimed()).toHaveLength(1);
    const other = { ...WORKER, worker_id: randomUUID() };
    expect(await heartbeatAndSearch(db, other, LEASE_MS)).toBe(true);
    await db.run(sql`delete from workers`);
    expect(await heartbeatAndSearch(db, WORKER, LEASE_MS)).toBe(false);
  });

  test('finds a delivery that a dead process was sending', async () => {
    await using db = await open();
    const outbox = webhookOutbox(db);
    await outbox.enqueue(delivery());
    const of = { host: 'receiver.example', token: randomUUID(), worker_id: randomUUID() };
    expect(await outbox.claim({ ...of, limit: 1, lease_ms: LEASE_MS })).toHaveLength(1);
    expect(await heartbeatAndSearch(db, WORKER, LEASE_MS)).toBe(true);
  });
});

import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { silentLogger } from '../../src/core/logger.ts';
import { flag } from '../../src/db/columns.ts';
import { openPostgres } from '../../src/db/engines/postgres.ts';
import { migrate } from '../../src/db/migrate.ts';
import { sql } from '../../src/db/sql.ts';
import { threadLease } from '../../src/workers/thread-lease.ts';
import { postgresSchema, TEST_POSTGRES_URI } from '../support/databases.ts';
import { queueStory } from '../support/queued-runs.ts';
import { until } from '../support/until.ts';

/** Keeps the event loop from turning. */
function block(ms: number): void {
  const end = performance.now() + ms;
  while (performance.now() < end);
}

async function leaseStory(max_stall_ms: number, onLostWork?: () => void) {
  await using opened = new AsyncDisposableStack();
  const schema = opened.use(await postgresSchema(TEST_POSTGRES_URI as string));
  const db = opened.use(openPostgres(schema.url));
  await migrate(db);
  const worker = { worker_id: randomUUID(), host: 'here', pid: 1, version: '1', slots: 1 };
  const lease = threadLease({
    worker,
    slots: () => 1,
    lease_ms: 1000,
    max_stall_ms,
    url: schema.url,
    logger: silentLogger,
    onLostWork,
  });
  opened.defer(() => lease.stop());
  lease.start();
  const isStored = async () => {
    const row = await db.get(sql`select expires_at > now() as ${flag('is_held')} from workers`);
    return row?.is_held === 1;
  };
  await until('the thread has renewed it', isStored);
  const all = opened.move();
  return { db, lease, isStored, [Symbol.asyncDispose]: () => all.disposeAsync() };
}

describe.runIf(TEST_POSTGRES_URI)('the lease of a process, renewed by a thread', () => {
  test('lasts while the event loop is blocked', async () => {
    await using story = await leaseStory(60_000);
    block(2500);
    expect(story.lease.isHeld()).toBe(true);
    expect(await story.isStored()).toBe(true);
    expect(story.lease.lapses).toBe(0);
    expect(story.lease.late_renewals).toBe(0);
  });

  test('ends when the event loop is blocked for too long, and is back when it turns again', async () => {
    await using story = await leaseStory(300);
    block(2500);
    expect(story.lease.isHeld()).toBe(false);
    expect(await story.isStored()).toBe(false);
    await until('it is renewed', () => story.lease.isHeld());
    expect(story.lease.lapses).toBe(1);
    expect(story.lease.late_renewals).toBe(1);
    expect(story.lease.isBeating()).toBe(true);
  });

  test('is renewed with a search for what dead processes hold', async () => {
    let found = 0;
    await using story = await leaseStory(60_000, () => {
      found += 1;
    });
    await until('it has found nothing', () => story.lease.nothingLostFor() > 0);
    expect(found).toBe(0);
    const { add, queue } = queueStory(story.db);
    await add(randomUUID());
    await queue.claim({ worker_id: randomUUID(), token: randomUUID(), limit: 1 });
    await until('it has found the run', () => found > 0);
    expect(story.lease.nothingLostFor()).toBe(0);
  });

  test('is renewed although that search fails', async () => {
    await using story = await leaseStory(60_000, () => {});
    await story.db.run(sql`alter table webhook_outbox rename to webhook_outbox_of_old`);
    await until('searches fail', () => story.lease.nothingLostFor() === 0);
    await story.db.run(sql`update workers set expires_at = now() - interval '1 second'`);
    await until('the thread has renewed it', story.isStored);
    expect(story.lease.nothingLostFor()).toBe(0);
  });
});

import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { silentLogger } from '../../src/core/logger.ts';
import { flag } from '../../src/db/columns.ts';
import { openPostgres } from '../../src/db/engines/postgres.ts';
import { migrate } from '../../src/db/migrate.ts';
import { sql } from '../../src/db/sql.ts';
import { threadLease } from '../../src/workers/heartbeat.ts';
import { postgresSchema, TEST_POSTGRES_URI } from '../support/databases.ts';
import { queueStory } from '../support/queued-runs.ts';
import { until } from '../support/until.ts';

const cell = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));

/** Keeps the event loop from turning until something has happened elsewhere. Costs no CPU, which the thread needs. */
function blockUntil(what: string, hasHappened: () => boolean): void {
  const deadline = performance.now() + 100_000;
  while (!hasHappened()) {
    if (performance.now() > deadline) throw new Error(`blocked in vain until ${what}`);
    Atomics.wait(cell, 0, 0, 20);
  }
}

/** As in production: a thread that a busy machine lets wait for seconds renews it in time. */
const LEASE_MS = 20_000;

interface LeaseStory {
  readonly lease_ms: number;
  readonly max_stall_ms: number;
  readonly onLostWork?: () => void;
}

async function leaseStory({ lease_ms, max_stall_ms, onLostWork }: LeaseStory) {
  await using opened = new AsyncDisposableStack();
  const schema = opened.use(await postgresSchema(TEST_POSTGRES_URI as string));
  const db = opened.use(openPostgres(schema.url));
  await migrate(db);
  const worker = { worker_id: randomUUID(), host: 'here', pid: 1, version: '1', slots: 1 };
  const lease = threadLease({
    worker,
    slots: () => 1,
    lease_ms,
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
    await using story = await leaseStory({
      lease_ms: LEASE_MS,
      max_stall_ms: 10 * LEASE_MS,
      onLostWork: () => {},
    });
    const { lease } = story;
    let left_ms = lease.nothingLostFor();
    let renewals = 0;
    blockUntil('the thread has renewed it twice', () => {
      const before_ms = left_ms;
      left_ms = lease.nothingLostFor();
      // Each renewal searches too, and what that found counts anew.
      if (left_ms > before_ms) renewals += 1;
      return renewals === 2;
    });
    expect(lease.isHeld()).toBe(true);
    expect(await story.isStored()).toBe(true);
    expect(lease.lapses).toBe(0);
    expect(lease.late_renewals).toBe(0);
  });

  test('ends when the event loop is blocked for too long, and is taken again when it recovers', async () => {
    await using story = await leaseStory({ lease_ms: 2000, max_stall_ms: 100 });
    const { db, lease } = story;
    await db.run(sql`create table ends (expires_at timestamptz)`);
    await db.run(sql`create function note_end() returns trigger language plpgsql as
      'begin insert into ends values (old.expires_at); return new; end'`);
    await db.run(sql`create trigger note_end before update on workers for each row
      when (old.expires_at < clock_timestamp()) execute function note_end()`);
    blockUntil('it has ended', () => !lease.isHeld());
    await until('it is renewed', () => lease.isHeld());
    // It had ended for other processes as well.
    expect(await db.all(sql`select expires_at from ends`)).not.toEqual([]);
    expect(lease.lapses).toBeGreaterThan(0);
    expect(lease.late_renewals).toBeGreaterThan(0);
    expect(lease.isBeating()).toBe(true);
  });

  test('is renewed together with a search for runs of dead processes', async () => {
    let found = 0;
    await using story = await leaseStory({
      lease_ms: 1000,
      max_stall_ms: 60_000,
      onLostWork: () => {
        found += 1;
      },
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
    await using story = await leaseStory({ lease_ms: 1000, max_stall_ms: 60_000, onLostWork: () => {} });
    await story.db.run(sql`alter table webhook_outbox rename to webhook_outbox_of_old`);
    await until('searches fail', () => story.lease.nothingLostFor() === 0);
    await story.db.run(sql`update workers set expires_at = now() - interval '1 second'`);
    await until('the thread has renewed it', story.isStored);
    expect(story.lease.nothingLostFor()).toBe(0);
  });
});

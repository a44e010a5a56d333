import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import type { Db } from '../../src/db/db.ts';
import { type ThreadRepository, threadRepository } from '../../src/storage/threads/threads.ts';
import { describeEachDatabase } from '../support/databases.ts';
import { queueStory, successful, WORKER } from '../support/queued-runs.ts';
import { at, freshThread, newState, threadId } from '../support/stored-threads.ts';

const OVER = { strategy: 'delete', ttl: 0 } as const;
const HOUR = { strategy: 'delete', ttl: 60 } as const;
const KEPT = { strategy: 'keep_latest', ttl: 0.5 } as const;

/** Minutes from now until the thread goes. */
function minutesUntil(expires_at: string | null | undefined): number {
  return (Date.parse(expires_at ?? '') - Date.now()) / 60_000;
}

/** How many of at most `limit` threads that were due went. */
async function expired(threads: ThreadRepository, limit: number): Promise<number> {
  return (await threads.expire(limit)).expired;
}

describeEachDatabase('threads with a TTL', (open) => {
  test('are returned with their expiry', async () => {
    await using db = await open();
    const threads = threadRepository(db);
    await threads.insert(freshThread(1), HOUR);
    await threads.insert(freshThread(2));
    const expiry = await threads.expiry(threadId(1));
    expect(expiry).toEqual({ strategy: 'delete', ttl_minutes: 60, expires_at: expect.any(String) });
    expect(minutesUntil(expiry?.expires_at)).toBeCloseTo(60, 0);
    expect(await threads.expiry(threadId(2))).toBeUndefined();

    await threads.update(threadId(2), { ttl: KEPT }, at(3));
    await threads.update(threadId(2), { metadata: {} }, at(4));
    expect(await threads.expiry(threadId(2))).toMatchObject({ strategy: 'keep_latest', ttl_minutes: 0.5 });
  });

  test('are deleted when it expires, and others are kept', async () => {
    await using db = await open();
    const threads = threadRepository(db);
    for (const n of [1, 2, 3]) await threads.insert(freshThread(n), OVER);
    await threads.insert(freshThread(4), HOUR);
    await threads.insert(freshThread(5));
    expect([await expired(threads, 2), await expired(threads, 2), await expired(threads, 2)]).toEqual([
      2, 1, 0,
    ]);
    expect(await threads.count({})).toBe(2);
  });

  test('keep their newest checkpoint if a client requests that shortly before', async () => {
    await using db = await open();
    const threads = threadRepository(db);
    await threads.insert(freshThread(1), OVER);
    const overtaken: Db = {
      ...{ dialect: db.dialect, cipher: db.cipher },
      get: (query) => db.get(query),
      run: (query, durability) => db.run(query, durability),
      transaction: (durability, body) => db.transaction(durability, body),
      async all(query) {
        const due = await db.all(query);
        await threads.update(threadId(1), { ttl: { strategy: 'keep_latest', ttl: 0 } }, at(2));
        return due;
      },
      [Symbol.asyncDispose]: () => db[Symbol.asyncDispose](),
    };
    expect(await expired(threadRepository(overtaken), 10)).toBe(1);
    expect(await threads.get(threadId(1))).toBeDefined();
  });

  test('are not deleted before their runs end', async () => {
    await using db = await open();
    const threads = threadRepository(db);
    const { add, queue } = queueStory(db);
    await threads.insert(freshThread(1), OVER);
    await add(threadId(1));
    expect(await expired(threads, 10)).toBe(0);

    const [run] = await queue.claim({ worker_id: WORKER.worker_id, token: randomUUID(), limit: 1 });
    await queue.finish(run!.lease, successful());
    expect(await expired(threads, 10)).toBe(1);
    expect(await threads.get(threadId(1))).toBeUndefined();
  });

  test('that keep their newest checkpoint expire anew after each state', async () => {
    await using db = await open();
    const threads = threadRepository(db);
    await threads.insert(freshThread(1), { strategy: 'keep_latest', ttl: 0 });
    expect(await expired(threads, 10)).toBe(1);
    expect(await threads.get(threadId(1))).toEqual(freshThread(1));
    expect(await threads.expiry(threadId(1))).toMatchObject({ expires_at: null });
    expect(await expired(threads, 10)).toBe(0);

    await threads.setState(threadId(1), newState({ n: 1 }), at(2));
    expect(await expired(threads, 10)).toBe(1);

    const { add, queue } = queueStory(db);
    await add(threadId(1));
    const [run] = await queue.claim({ worker_id: WORKER.worker_id, token: randomUUID(), limit: 1 });
    await queue.finish(run!.lease, successful());
    expect(await expired(threads, 10)).toBe(1);
  });

  test('do not pass their TTL on to a copy', async () => {
    await using db = await open();
    const threads = threadRepository(db);
    await threads.insert(freshThread(1), OVER);
    await threads.copy({ source_id: threadId(1), target_id: threadId(2), at: at(2) });
    await threads.copy({ source_id: threadId(1), target_id: threadId(3), at: at(2), ttl: HOUR });
    expect(await threads.expiry(threadId(2))).toBeUndefined();
    expect(await threads.expiry(threadId(3))).toMatchObject({ ttl_minutes: 60 });
  });

  test('can be created with a TTL by a run', async () => {
    await using db = await open();
    const threads = threadRepository(db);
    await queueStory(db).add(threadId(1), { thread: { if_missing: freshThread(1), ttl: HOUR } });
    expect(await threads.expiry(threadId(1))).toMatchObject({ strategy: 'delete', ttl_minutes: 60 });
  });
});

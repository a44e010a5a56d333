import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { number, text } from '../../src/db/columns.ts';
import type { Db } from '../../src/db/db.ts';
import { raw, sql } from '../../src/db/sql.ts';
import { threadRepository } from '../../src/storage/threads/threads.ts';
import { describeEachStorage, describePostgresServer } from '../support/databases.ts';
import { interleaved } from '../support/interleaved-db.ts';
import { queueStory, successful } from '../support/queued-runs.ts';
import { at, freshThread, threadId } from '../support/stored-threads.ts';

/** Every table in which a thread leaves rows. */
const TABLES = [
  'threads',
  'thread_values',
  'runs',
  'run_queue',
  'run_events',
  'run_event_expiry',
  'run_logs',
  'run_checkpoints',
  'checkpoints',
];

async function rows(db: Db): Promise<Record<string, number>> {
  const counts = TABLES.map(async (table) => {
    const row = await db.get(sql`select count(*) as ${number('count')} from ${raw(table)}`);
    return [table, row?.count ?? 0] as const;
  });
  return Object.fromEntries((await Promise.all(counts)).filter(([, count]) => count > 0));
}

/** A thread with an ended run, the log that it left, its values, and a run that waits. */
async function usedThread(db: Db, n: number): Promise<{ waiting: string }> {
  const { add, queue } = queueStory(db);
  await threadRepository(db).insert(freshThread(n, { metadata: { n } }));
  const ended = await add(threadId(n));
  const claimed = await queue.claim({ worker_id: randomUUID(), token: randomUUID(), limit: 10 });
  const { lease } = claimed.find((each) => each.lease.run_id === ended)!;
  await queue.finish(lease, successful());
  return { waiting: await add(threadId(n)) };
}

describeEachStorage('deleting a thread', (open) => {
  test('deletes all its rows and none of another thread', async () => {
    await using db = await open();
    const threads = threadRepository(db);
    await usedThread(db, 1);
    const before = await rows(db);
    const { waiting } = await usedThread(db, 2);
    expect(await threads.delete(threadId(2))).toEqual([waiting]);
    expect(await rows(db)).toEqual(before);
    expect(await threads.get(threadId(2))).toBeUndefined();
  });

  test('returns false if there was none', async () => {
    await using db = await open();
    const threads = threadRepository(db);
    await threads.insert(freshThread(1));
    expect(await threads.delete(threadId(2))).toBeUndefined();
    expect(await threads.delete(threadId(1))).toEqual([]);
    expect(await threads.delete(threadId(1))).toBeUndefined();
  });
});

describeEachStorage('copying a thread', (open) => {
  test('copies metadata, values, status and interrupts', async () => {
    await using db = await open();
    const threads = threadRepository(db);
    await threads.insert(freshThread(1, { metadata: { a: [1] } }));
    const interrupts = { task: [{ id: 'i', value: '?' }] };
    await threads.setState(threadId(1), { values: { n: 1 }, status: 'interrupted', interrupts }, at(2));
    const copy = await threads.copy({ source_id: threadId(1), target_id: threadId(5), at: at(9) });
    expect(copy).toEqual({
      ...freshThread(5, { metadata: { a: [1] } }),
      created_at: at(9),
      updated_at: at(9),
      state_updated_at: at(9),
      values: { n: 1 },
      status: 'interrupted',
      interrupts,
      error: null,
    });
    expect(await threads.get(threadId(5))).toEqual(copy);
  });

  test('that is busy creates an idle one, without its runs', async () => {
    await using db = await open();
    const threads = threadRepository(db);
    await usedThread(db, 1);
    const before = await rows(db);
    const copy = await threads.copy({ source_id: threadId(1), target_id: threadId(5), at: at(9) });
    expect(copy).toMatchObject({ status: 'idle', values: { n: 2 }, metadata: { n: 1 } });
    expect((await threads.get(threadId(1)))?.status).toBe('busy');
    expect(await rows(db)).toEqual({ ...before, threads: 2, thread_values: 2 });
  });

  test('without a state creates one without a state', async () => {
    await using db = await open();
    const threads = threadRepository(db);
    await threads.insert(freshThread(1));
    const copy = await threads.copy({ source_id: threadId(1), target_id: threadId(5), at: at(5) });
    expect(copy).toEqual(freshThread(5));
  });

  test('that does not exist returns undefined', async () => {
    await using db = await open();
    const threads = threadRepository(db);
    expect(await threads.copy({ source_id: threadId(1), target_id: threadId(5), at: at(9) })).toBeUndefined();
    expect(await threads.count({})).toBe(0);
  });
});

describePostgresServer('copying a thread concurrently with other transactions', (open) => {
  test('copies a concurrently deleted run completely', async () => {
    await using db = await open();
    const { add, queue } = queueStory(db);
    await threadRepository(db).insert(freshThread(1));
    const run_id = await add(threadId(1));
    await db.run(sql`
      insert into checkpoints (thread_id, ns, checkpoint_id, run_id, checkpoint, versions, metadata)
      values (${threadId(1)}, '', 'c1', ${run_id}, '{}', '{"n":"1"}', '{}')`);
    await db.run(sql`
      insert into checkpoint_blobs (thread_id, ns, channel, version, appends, type, value)
      values (${threadId(1)}, '', 'n', '1', 0, 'json', ${Buffer.from('1')})`);

    const copying = interleaved(db);
    const copied = copying.pause('statement', /insert into checkpoints/);
    const copy = threadRepository(copying).copy({
      source_id: threadId(1),
      target_id: threadId(5),
      at: at(9),
    });
    await copied.reached;
    expect((await queue.deleteRun(threadId(1), run_id)).deleted).toBe(true);
    copied.resume();

    expect(await copy).toMatchObject({ thread_id: threadId(5) });
    const of = (table: string) =>
      db.all(sql`select ${text('thread_id')} from ${raw(table)}`) as Promise<unknown>;
    expect(await of('checkpoints')).toEqual([{ thread_id: threadId(5) }]);
    expect(await of('checkpoint_blobs')).toEqual([{ thread_id: threadId(5) }]);
  });
});

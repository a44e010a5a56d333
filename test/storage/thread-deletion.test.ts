import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { Unavailable } from '../../src/core/errors.ts';
import { columns, number } from '../../src/db/columns.ts';
import type { Db } from '../../src/db/db.ts';
import { insertRows } from '../../src/db/rows.ts';
import { raw, sql } from '../../src/db/sql.ts';
import { insertFrames, runEventRepository } from '../../src/storage/runs/events.ts';
import { SLICE_BYTES } from '../../src/storage/search/byte-slices.ts';
import { threadRepository } from '../../src/storage/threads/threads.ts';
import { webhookOutbox } from '../../src/storage/webhooks/outbox.ts';
import { describeEachDatabase } from '../support/databases.ts';
import { delivery } from '../support/outbox.ts';
import { KWARGS, newRun, queueStory, request, WORKER } from '../support/queued-runs.ts';
import { at, freshThread, threadId } from '../support/stored-threads.ts';
import { watchedDb } from '../support/watched-db.ts';

const LONG = 1_200;

/** A thread with that many checkpoints and as many writes. */
async function threadWithHistory(db: Db, n: number, length = LONG, value = Buffer.from('1')) {
  const threads = threadRepository(db);
  await threads.insert(freshThread(n));
  const steps = Array.from({ length }, (_, step) => String(step).padStart(6, '0'));
  await db.transaction('sync', async (tx) => {
    await insertRows(
      tx,
      sql`checkpoints (thread_id, ns, checkpoint_id, checkpoint, versions, metadata)`,
      steps.map((id) => sql`(${threadId(n)}, '', ${id}, '{}', '{}', '{}')`),
      raw(''),
    );
    await insertRows(
      tx,
      sql`checkpoint_writes (thread_id, ns, checkpoint_id, task_id, idx, channel, type, value)`,
      steps.map((id) => sql`(${threadId(n)}, '', ${id}, 't', 0, 'c', 'json', ${value})`),
      raw(''),
    );
  });
  return threads;
}

async function count(db: Db, table: string, n: number): Promise<number> {
  const row = await db.get(
    sql`select count(*) as ${number('count')} from ${raw(table)} where thread_id = ${threadId(n)}`,
  );
  return row?.count ?? 0;
}

async function left(db: Db, n: number): Promise<number[]> {
  const tables = ['checkpoints', 'checkpoint_writes', 'thread_deletions'];
  return Promise.all(tables.map((table) => count(db, table, n)));
}

describeEachDatabase('deleting a thread with large rows', (open) => {
  test('frees them in slices by bytes on SQLite', async () => {
    await using db = await open();
    const text = 'x'.repeat(SLICE_BYTES / 2 - 1000);
    await threadWithHistory(db, 1, 6, Buffer.from(text));
    const { queue } = queueStory(db);
    for (let n = 0; n < 6; n++)
      await queue.enqueue(request({ ...newRun(threadId(1)), kwargs: { ...KWARGS, input: { text } } }));
    const { watched, writes } = watchedDb(db);
    const run = await db.get(sql`select ${columns('runs', 'run_id')} from runs limit 1`);
    const frames = [1, 2, 3, 4].map((seq) => ({ seq, event: 'values', data: text }));
    await db.transaction('sync', (tx) => insertFrames(tx, run?.run_id as string, frames));
    const body = JSON.stringify({ text });
    for (let n = 0; n < 6; n++) await webhookOutbox(db).enqueue(delivery({ thread_id: threadId(1), body }));
    expect(await threadRepository(watched).delete(threadId(1))).toHaveLength(6);
    const slices = (table: string) =>
      writes.filter((each) => each.startsWith(`delete from ${table} `)).length;
    const found = ['checkpoint_writes', 'runs', 'webhook_outbox', 'run_events'].map(slices);
    // The last one of the log finds that nothing is left.
    expect(found).toEqual(db.dialect === 'sqlite' ? [3, 3, 3, 2] : [1, 1, 1, 2]);
    expect(await left(db, 1)).toEqual([0, 0, 0]);
    expect(await count(db, 'runs', 1)).toBe(0);
  });
});

describeEachDatabase('deleting a thread with webhooks', (open) => {
  test('deletes those that were sent, those that wait, and those of runs that are gone', async () => {
    await using db = await open();
    const outbox = webhookOutbox(db);
    const { add, queue } = queueStory(db);
    const [run_id, gone] = [await add(threadId(1)), await add(threadId(1))];
    const token = randomUUID();
    const sending = await outbox.enqueue(delivery({ run_id, thread_id: threadId(1) }));
    const claim = { host: 'receiver.example', ...{ token, limit: 1, lease_ms: 60_000 } };
    expect(await outbox.claim({ ...claim, worker_id: WORKER.worker_id })).toHaveLength(1);
    const waiting = await outbox.enqueue(delivery({ run_id: gone, thread_id: threadId(1) }));
    const other = await outbox.enqueue(delivery({ thread_id: threadId(2) }));
    await queue.deleteRun(threadId(1), gone);

    await threadRepository(db).delete(threadId(1));

    const found = await Promise.all([sending, waiting, other].map((id) => outbox.get(id)));
    expect(found).toMatchObject([undefined, undefined, { delivery_id: other }]);
    // The receiver may have got what was being sent; nothing of it is stored any more.
    const attempt = { started_at: at(1), duration_ms: 1, status_code: 200 };
    const nothing = { error: null, answer: null, answer_headers: null };
    const sent = { delivery_id: sending, token };
    expect(await outbox.ack(sent, { ...attempt, ...nothing }, { outcome: 'delivered' })).toBe('lease lost');
  });
});

describeEachDatabase('deleting a thread with a long history', (open) => {
  test('deletes the thread at once and its history in batches', async () => {
    await using db = await open();
    const threads = await threadWithHistory(db, 1);
    await threadWithHistory(db, 2);
    expect(await threads.delete(threadId(1))).toEqual([]);
    expect(await threads.get(threadId(1))).toBeUndefined();
    expect(await left(db, 1)).toEqual([200, LONG, 1]);
    await threads.deleteRest(threadId(1));
    expect(await left(db, 1)).toEqual([0, 0, 0]);
    expect(await left(db, 2)).toEqual([LONG, LONG, 0]);
  });

  test('needs one transaction if the history is short', async () => {
    await using db = await open();
    const threads = await threadWithHistory(db, 1, 20);
    await threads.delete(threadId(1));
    expect(await left(db, 1)).toEqual([0, 0, 0]);
  });

  test('is resumed by the sweep of any process after the one that started it has ended', async () => {
    await using db = await open();
    const threads = await threadWithHistory(db, 1);
    await threads.delete(threadId(1));
    const swept: number[] = [];
    do swept.push(await threads.sweepDeletions(500));
    while (swept.at(-1) === 500);
    expect(swept).toEqual([500, 500, 0]);
    expect(await left(db, 1)).toEqual([0, 0, 0]);
  });

  test('a second deletion finds no thread, and two processes that finish it delete every row once', async () => {
    await using db = await open();
    const threads = await threadWithHistory(db, 1, 3 * LONG);
    const first = threads.delete(threadId(1));
    expect(await Promise.all([first, threads.delete(threadId(1))])).toEqual([[], undefined]);
    await Promise.all([
      threads.deleteRest(threadId(1)),
      threads.deleteRest(threadId(1)),
      threads.sweepDeletions(500),
    ]);
    expect(await left(db, 1)).toEqual([0, 0, 0]);
  });

  test('no thread with its id is created before its history is deleted, with a run or without one', async () => {
    await using db = await open();
    const threads = await threadWithHistory(db, 1);
    const { add } = queueStory(db);
    const gone = threads.delete(threadId(1));
    const [, created] = await Promise.allSettled([gone, threads.insert(freshThread(1))]);
    // Either before the deletion, when the id is taken, or after it.
    if (created.status === 'fulfilled') expect(created.value).toBe(false);
    else expect(created.reason).toBeInstanceOf(Unavailable);
    await expect(threads.insert(freshThread(1))).rejects.toThrow(/is being deleted/);
    await expect(add(threadId(1))).rejects.toThrow(/is being deleted/);
    await threads.deleteRest(threadId(1));
    await add(threadId(1));
    expect(await left(db, 1)).toEqual([0, 0, 0]);
    expect((await threads.get(threadId(1)))?.status).toBe('busy');
  });

  test('a concurrent copy is complete or does not exist', async () => {
    await using db = await open();
    const threads = await threadWithHistory(db, 1);
    const copying = threads.copy({ source_id: threadId(1), target_id: threadId(2), at: at(9) });
    const deleting = threads.delete(threadId(1)).then(() => threads.deleteRest(threadId(1)));
    const [copy] = await Promise.all([copying, deleting]);
    const whole = [LONG, LONG, 0];
    expect(await left(db, 2)).toEqual(copy ? whole : [0, 0, 0]);
    expect(await threads.copy({ source_id: threadId(1), target_id: threadId(3), at: at(9) })).toBeUndefined();
  });

  test('a log with very many events expires at once', async () => {
    await using db = await open();
    const threads = threadRepository(db);
    const { add } = queueStory(db);
    const run_id = await add(threadId(1));
    await db.transaction('sync', (tx) =>
      insertRows(
        tx,
        sql`run_events (run_id, seq, event, data)`,
        Array.from({ length: 1_500 }, (_, n) => sql`(${run_id}, ${n + 1}, 'values', '1')`),
        raw(''),
      ),
    );
    await threads.delete(threadId(1));
    const events = runEventRepository(db);
    // A reader that lags behind finds the end of what is left, not a gap before it.
    const { frames } = await events.readAfter(run_id, 0, 1);
    expect(frames.map(({ seq }) => seq)).toEqual([1]);
    let deleted = 0;
    for (let batch = 1; batch > 0; deleted += batch) batch = await events.deleteExpired(500);
    // The rest of the events and the expiry itself.
    expect(deleted).toBe(501);
  });
});

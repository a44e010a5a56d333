import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { sql } from '../../src/db/sql.ts';
import { memoryBus } from '../../src/events/bus.ts';
import { lastThreadSeq } from '../../src/events/follow-thread.ts';
import { deleteThread } from '../../src/storage/threads/delete.ts';
import { setThreadState } from '../../src/storage/threads/state.ts';
import { describeEachDatabase } from '../support/databases.ts';
import { executing, followedThread, read, run } from '../support/followed-threads.ts';
import { liveSources } from '../support/live-sources.ts';
import { successful } from '../support/queued-runs.ts';

describeEachDatabase('following a thread', (open) => {
  test('numbers events across runs, and can start from any number', async () => {
    await using db = await open();
    const there = followedThread(db);
    await run(there, 'a', 'b');
    await run(there, 'c');
    await run(there, 'd');
    const all = ['1:a', '2:b', '3:end', '4:c', '5:end', '6:d', '7:end'];
    for (let after = 0; after < all.length; after++) {
      expect(await read(there, all.length - after, after)).toEqual(all.slice(after));
    }
    expect(await lastThreadSeq(there.sources, there.thread_id)).toBe(7);
  });

  test.for([true, false])('includes runs that begin later (resumable: %s)', async (resumable) => {
    await using db = await open();
    const there = followedThread(db);
    const reading = read(there, 6);
    for (const text of ['a', 'b', 'c']) {
      await there.add(there.thread_id);
      const attempt = await executing(there, resumable);
      attempt.write(text);
      await attempt.end();
    }
    expect(await reading).toEqual(['1:a', '2:end', '3:b', '4:end', '5:c', '6:end']);
  });

  test('delivers events of an executing run as soon as they are logged', async () => {
    await using db = await open();
    const there = followedThread(db);
    await run(there, 'a');
    await there.add(there.thread_id);
    const attempt = await executing(there, false);
    attempt.write('b', 'c');
    expect(await read(there, 4)).toEqual(['1:a', '2:end', '3:b', '4:c']);
    expect(await lastThreadSeq(there.sources, there.thread_id)).toBe(4);
    await attempt.end();
  });

  test('keeps the place of a run that another process continues', async () => {
    await using db = await open();
    const there = followedThread(db);
    await there.add(there.thread_id);
    const first = await executing(there);
    first.write('a');
    await first.release();
    const second = await executing(there);
    second.write('b');
    await second.end();
    await run(there, 'c');
    expect(await read(there, 5)).toEqual(['1:a', '2:b', '3:end', '4:c', '5:end']);
  });

  test('gives no number to a run that never began', async () => {
    await using db = await open();
    const there = followedThread(db);
    await there.add(there.thread_id);
    const attempt = await executing(there);
    const blocked = await there.add(there.thread_id);
    const error = { error: 'UserInterrupt', message: '' };
    await there.queue.cancel(there.thread_id, [blocked], {
      action: 'interrupt',
      error,
      log_retention_ms: 1000,
    });
    attempt.write('a');
    await attempt.end();
    await run(there, 'b');
    expect(await read(there, 4)).toEqual(['1:a', '2:end', '3:b', '4:end']);
  });

  test('sees the end of a run without a notification in this process', async () => {
    await using db = await open();
    const there = followedThread(db);
    await there.add(there.thread_id);
    const attempt = await executing(there);
    await there.queue.finish(attempt.lease, successful());
    expect(await read(there, 1)).toEqual(['1:end']);
  });

  test('skips deleted events and does not reuse their numbers', async () => {
    await using db = await open();
    const there = followedThread(db);
    const gone = await run(there, 'a', 'b');
    await run(there, 'c');
    await there.queue.deleteRun(there.thread_id, gone);
    const killed = await there.add(there.thread_id);
    const attempt = await executing(there);
    attempt.write('d');
    expect(await read(there, 3)).toEqual(['4:c', '5:end', '6:d']);
    await there.queue.deleteRun(there.thread_id, killed);
    await run(there, 'e');
    expect(await read(there, 4, 0)).toEqual(['4:c', '5:end', '8:e', '9:end']);
    expect(await read(there, 2, 6)).toEqual(['8:e', '9:end']);
  });

  test('skips a run that is deleted while it is read', async () => {
    await using db = await open();
    const there = followedThread(db);
    const gone = await run(there, 'a');
    await run(there, 'b');
    const { threadLog } = there.sources;
    const entryAfter: typeof threadLog.entryAfter = async (...asked) => {
      const entry = await threadLog.entryAfter(...asked);
      await there.queue.deleteRun(there.thread_id, gone);
      return entry;
    };
    const poll = { wait: () => Promise.reject(new Error('there is more to read')) };
    const sources = { ...there.sources, threadLog: { ...threadLog, entryAfter }, poll };
    expect(await read({ ...there, sources }, 2)).toEqual(['3:b', '4:end']);
  });

  test('gives a state update its own number', async () => {
    await using db = await open();
    const there = followedThread(db);
    await run(there, 'a');
    const event = { event_id: randomUUID(), event: 'state_update', data: '{}', retention_ms: 60_000 };
    const state = { values: {}, status: 'idle' as const, interrupts: {}, event };
    expect(await setThreadState(db, there.thread_id, state, '2026-11-20T12:00:00.000Z')).toBe('updated');
    await run(there, 'b');
    expect(await read(there, 5)).toEqual(['1:a', '2:end', '3:state_update', '4:b', '5:end']);
  });

  test('leaves the number of the end of a run to it when a failure took the run out of the queue', async () => {
    await using db = await open();
    const there = followedThread(db);
    await there.add(there.thread_id);
    const attempt = await executing(there);
    await attempt.log('a');
    await db.run(sql`delete from run_queue where thread_id = ${there.thread_id}`);
    const event = { event_id: randomUUID(), event: 'state_update', data: '{}', retention_ms: 60_000 };
    const state = { values: {}, status: 'idle' as const, interrupts: {}, event };
    expect(await setThreadState(db, there.thread_id, state, '2026-11-20T12:00:00.000Z')).toBe('updated');
    expect(await read(there, 2)).toEqual(['1:a', '3:state_update']);
    attempt.abandon();
  });

  test('yields no events of a deleted thread', async () => {
    await using db = await open();
    const there = followedThread(db);
    await run(there, 'a');
    await deleteThread(db, there.thread_id);
    expect(await there.sources.threadLog.newest(there.thread_id)).toBeUndefined();
  });

  test('delivers every event without notifications', async () => {
    await using db = await open();
    const there = followedThread(db);
    const deaf = { ...there, sources: { ...there.sources, ...liveSources(db), bus: memoryBus() } };
    const reading = read(deaf, 2);
    await run(there, 'a');
    expect(await reading).toEqual(['1:a', '2:end']);
  });
});

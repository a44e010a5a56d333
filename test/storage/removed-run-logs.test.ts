import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { systemActor } from '../../src/auth/actor.ts';
import { timestamp } from '../../src/core/clock.ts';
import { bind } from '../../src/db/bind.ts';
import { number } from '../../src/db/columns.ts';
import type { Db, Transaction } from '../../src/db/db.ts';
import { render, type Sql, sql } from '../../src/db/sql.ts';
import { memoryBus } from '../../src/events/bus.ts';
import type { Frame } from '../../src/events/frame.ts';
import { LiveRuns } from '../../src/events/writer.ts';
import { newestLogService } from '../../src/services/runs/newest-logs.ts';
import { runLogService } from '../../src/services/runs/run-logs.ts';
import type { RunEnd } from '../../src/storage/queue/finish.ts';
import { findNewestLogs, newestLogTime } from '../../src/storage/runs/newest-logs.ts';
import { runLogRepository } from '../../src/storage/runs/run-logs.ts';
import { runRepository } from '../../src/storage/runs/runs.ts';
import { threadRepository } from '../../src/storage/threads/threads.ts';
import { describeEachStorage } from '../support/databases.ts';
import { partsOf } from '../support/parts-of.ts';
import { attemptOf, claimOne } from '../support/printing-attempts.ts';
import { FAILURE_RULES, MARKERS, newRun, queueStory, request, successful } from '../support/queued-runs.ts';

const ALL = 1000;
const CANCEL = {
  action: 'interrupt',
  error: { error: 'Cancelled', message: 'cancelled' },
  log_retention_ms: 60_000,
} as const;

/** A run that created its thread for itself, which an attempt executes. */
async function statelessRun(db: Db) {
  const story = queueStory(db);
  const { queue } = story;
  const markers = { ...MARKERS, thread_retention: 'delete' } as const;
  const queued = newRun(randomUUID());
  const { assistant_id } = queued;
  await queue.enqueue(request(queued, markers));
  const lease = await claimOne(story);
  const attempt = attemptOf(db, lease, assistant_id);
  const { run_id, thread_id } = lease;
  return {
    ...{ queue, lease, attempt, run_id, thread_id, assistant_id, claimAgain: () => claimOne(story) },
    async print(...messages: string[]) {
      for (const message of messages) attempt.print(message);
      await attempt.writes.commit();
    },
    async finish(end: Partial<RunEnd> = {}) {
      const batch = await attempt.writes.drain();
      const has_lines = attempt.log.mayBeStored;
      return queue.finish(lease, successful({ batch, remove_thread: true, has_lines, ...end }));
    },
    messages: async () =>
      (await runLogRepository(db).read(run_id, undefined, ALL)).map(({ seq, message }) => [seq, message]),
    [Symbol.dispose]: () => attempt[Symbol.dispose](),
  };
}

function abortable() {
  const end = new AbortController();
  return { signal: end.signal, [Symbol.dispose]: () => end.abort() };
}

async function rows(db: Db): Promise<number | undefined> {
  const row = await db.get(sql`
    select (select count(*) from run_logs) + (select count(*) from removed_run_logs) as ${number('n')}`);
  return row?.n;
}

describeEachStorage('the lines of a run that is removed at its end', (open) => {
  test('are kept until they expire, including the last ones', async () => {
    await using db = await open();
    using run = await statelessRun(db);
    await run.print('a', 'b');
    run.attempt.print('c', 3);
    await run.finish();

    expect(await runRepository(db).get(undefined, run.run_id)).toBeUndefined();
    expect(await run.messages()).toEqual([
      [1, 'a'],
      [2, 'b'],
      [6, 'c'],
    ]);
    expect(await runLogRepository(db).deleteRemoved(10)).toBe(0);
  });

  test('are kept even if it ends before they are stored', async () => {
    await using db = await open();
    using run = await statelessRun(db);
    run.attempt.print('a');
    run.attempt.print('b');
    await run.finish();

    expect(await run.messages()).toEqual([
      [1, 'a'],
      [2, 'b'],
    ]);
  });

  test('are numbered over all attempts', async () => {
    await using db = await open();
    using run = await statelessRun(db);
    run.attempt.print('a');
    const batch = await run.attempt.writes.drain();
    await run.queue.requeue(run.lease, { charge: true, delay_ms: 0, batch });
    const lease = await run.claimAgain();
    using second = attemptOf(db, lease);
    second.print('b');
    const [last, has_lines] = [await second.writes.drain(), second.log.mayBeStored];
    await run.queue.finish(lease, successful({ batch: last, remove_thread: true, has_lines }));

    expect(await run.messages()).toEqual([
      [1, 'a'],
      [2, 'b'],
    ]);
  });

  test('are deleted in batches when they expire, at the latest with its events', async () => {
    await using db = await open();
    using run = await statelessRun(db);
    for (const message of ['a', 'b']) await run.print(message);
    run.attempt.print('c');
    await run.finish({ log_retention_ms: 0 });

    const logs = runLogRepository(db);
    expect([await logs.deleteRemoved(2), await logs.deleteRemoved(2)]).toEqual([2, 1]);
    expect(await run.messages()).toEqual([]);
  });

  test('are kept if a client cancels it before its next attempt, or its attempts are used up', async () => {
    await using db = await open();
    using cancelled = await statelessRun(db);
    await cancelled.print('before the cancel');
    const back = { charge: true, delay_ms: 0, batch: await cancelled.attempt.writes.drain() };
    await cancelled.queue.requeue(cancelled.lease, back);
    await cancelled.queue.cancel(cancelled.thread_id, [cancelled.run_id], CANCEL);
    expect(await cancelled.messages()).toEqual([[1, 'before the cancel']]);

    using failed = await statelessRun(db);
    await failed.print('before the failure');
    const failure = { ...FAILURE_RULES, max_attempts: 1 };
    const last = { ...back, batch: await failed.attempt.writes.drain(), failure };
    await failed.queue.requeue(failed.lease, last);
    expect(await failed.messages()).toEqual([[1, 'before the failure']]);
    expect(await runRepository(db).get(undefined, failed.run_id)).toBeUndefined();
  });

  test('are deleted at once if it is rolled back, or if a client deletes it or its thread', async () => {
    await using db = await open();
    using rolledBack = await statelessRun(db);
    const { queue } = rolledBack;
    await rolledBack.print('a');
    rolledBack.attempt.print('b');
    await queue.cancel(rolledBack.thread_id, [rolledBack.run_id], { ...CANCEL, action: 'rollback' });
    expect(await rolledBack.finish()).toMatchObject({ ending: { status: 'rollback' } });

    using deleted = await statelessRun(db);
    await deleted.print('a');
    await queue.deleteRun(deleted.thread_id, deleted.run_id);
    expect(await deleted.finish()).toMatchObject({ outcome: 'lease lost' });

    using withThread = await statelessRun(db);
    await withThread.print('a');
    await threadRepository(db).delete(withThread.thread_id);
    expect(await withThread.finish()).toMatchObject({ outcome: 'lease lost' });
    expect(await rows(db)).toBe(0);
  });

  test('reach a follower in another process to the end, but no new request', async () => {
    await using db = await open();
    using run = await statelessRun(db);
    const service = runLogService({
      ...{ runs: runRepository(db), runLogs: runLogRepository(db) },
      ...{ bus: memoryBus(), live: new LiveRuns() },
    });
    const follow = () =>
      service.stream(
        systemActor('test'),
        undefined,
        run.run_id,
        { limit: ALL },
        new AbortController().signal,
      );
    await run.print('a');
    const frames = (await follow())[Symbol.asyncIterator]() as AsyncIterator<Frame, undefined>;
    const next = async () => (await frames.next()).value;
    expect(await next()).toMatchObject({ event: 'log', seq: 1 });

    await run.print('b');
    run.attempt.print('c');
    await run.finish();

    expect(await next()).toMatchObject({ event: 'log', seq: 2 });
    expect(await next()).toMatchObject({ event: 'log', seq: 3, data: expect.stringContaining('"c"') });
    expect(await next()).toMatchObject({ event: 'end', seq: 3 });
    await expect(follow()).rejects.toThrow('Run not found');
    await expect(service.list(systemActor('test'), undefined, run.run_id, { limit: ALL })).rejects.toThrow(
      'Run not found',
    );
  });

  test('reach a follower of all runs in another process once and in order', async () => {
    await using db = await open();
    using run = await statelessRun(db);
    const service = newestLogService({
      newestLogs: bind(db, { find: findNewestLogs, newestTime: newestLogTime }),
      bus: memoryBus(),
      assistants: partsOf({ requireId: (name) => name }),
    });
    using end = abortable();
    const frames = await service.follow(systemActor('test'), { level: 'debug' }, end.signal);
    const lines = frames[Symbol.asyncIterator]();
    const next = async () => (await lines.next()).value;
    expect(await next()).toMatchObject({ event: 'ready' });

    await run.print('a');
    await run.print('b');
    run.attempt.print('c');
    await run.finish();
    using second = await statelessRun(db);
    second.attempt.print('d');
    await second.finish();

    const { run_id, thread_id } = run;
    for (const message of ['a', 'b', 'c']) {
      const { data } = (await next()) as Frame;
      expect(JSON.parse(data)).toMatchObject({ run_id, thread_id, assistant_id: run.assistant_id, message });
    }
    expect(JSON.parse(((await next()) as Frame).data)).toMatchObject({ run_id: second.run_id, message: 'd' });
  });

  test('are hidden from callers who may see only some threads', async () => {
    await using db = await open();
    using run = await statelessRun(db);
    await run.print('a');
    await run.finish();
    const query = { after: { created_at: timestamp(0), run_id: randomUUID(), seq: 0 }, limit: ALL };
    expect(await findNewestLogs(db, query)).toHaveLength(1);
    expect(await findNewestLogs(db, query, { ids: [run.thread_id] })).toEqual([]);
  });

  test('keep their id from being used for another run, whose followers would read them', async () => {
    await using db = await open();
    using run = await statelessRun(db);
    run.attempt.print('a');
    await run.finish({ log_retention_ms: 0 });
    await db.run(sql`delete from run_events`);
    const again = { ...request({ ...newRun(randomUUID()), run_id: run.run_id }), has_client_id: true };
    expect(await run.queue.enqueue(again)).toEqual({ outcome: 'run exists' });
    await runLogRepository(db).deleteRemoved(1);
    expect(await run.queue.enqueue(again)).toMatchObject({ outcome: 'queued' });
  });

  test('need no statement if there are none', async () => {
    await using db = await open();
    using run = await statelessRun(db);
    const statements: string[] = [];
    const { finish } = queueStory(recording(db, statements)).queue;
    const has_lines = run.attempt.log.mayBeStored;
    await finish(run.lease, successful({ remove_thread: true, has_lines }));
    expect(statements.join()).toContain('delete from threads');
    expect(statements.join()).not.toContain('removed_run_logs');
  });
});

/** The database; the texts of what its transactions change go to `statements`. */
function recording(db: Db, statements: string[]): Db {
  const note = (query: Sql) => {
    statements.push(render(query, db.dialect).text);
    return query;
  };
  const recorded = (tx: Transaction): Transaction => ({
    ...tx,
    run: (query) => tx.run(note(query)),
    defer: (query) => tx.defer(note(query)),
  });
  return Object.assign(Object.create(db), {
    transaction: (mode: 'sync', body: (tx: Transaction) => Promise<unknown>) =>
      db.transaction(mode, (tx) => body(recorded(tx))),
  });
}

import { expect, test } from 'vitest';
import { sql } from '../../src/db/sql.ts';
import { threadRepository } from '../../src/storage/threads/threads.ts';
import { serializeState } from '../../src/storage/threads/values-summary.ts';
import { describeEachStorage } from '../support/databases.ts';
import { queueStory, successful } from '../support/queued-runs.ts';
import { at, freshThread, newState, threadId } from '../support/stored-threads.ts';

describeEachStorage('threads', (open) => {
  test('are as they were created until a run or a state update', async () => {
    await using db = await open();
    const threads = threadRepository(db);
    const thread = freshThread(1, { metadata: { tags: ['a'], 'ü😀': null } });
    expect(await threads.insert(thread)).toBe(true);
    // Neither `error` nor `interrupts` yet.
    expect(await threads.get(threadId(1))).toEqual(thread);
    expect(await threads.get(threadId(2))).toBeUndefined();
  });

  test('creating a thread with an existing id leaves that thread unchanged', async () => {
    await using db = await open();
    const threads = threadRepository(db);
    await threads.insert(freshThread(1));
    expect(await threads.insert(freshThread(1, { metadata: { second: true } }))).toBe(false);
    expect((await threads.get(threadId(1)))?.metadata).toEqual({});
  });

  test('an update merges metadata shallowly and always changes updated_at', async () => {
    await using db = await open();
    const threads = threadRepository(db);
    await threads.insert(freshThread(1, { metadata: { a: { x: 1 }, b: 1 } }));
    const updated = await threads.update(threadId(1), { metadata: { a: { y: 2 }, c: null } }, at(5));
    expect(updated).toEqual(freshThread(1, { metadata: { a: { y: 2 }, b: 1, c: null }, updated_at: at(5) }));
    expect((await threads.update(threadId(1), {}, at(6)))?.updated_at).toBe(at(6));
    expect(await threads.update(threadId(2), { metadata: {} }, at(6))).toBeUndefined();
  });

  test('are busy while a run is in the queue, and return to their previous status', async () => {
    await using db = await open();
    const threads = threadRepository(db);
    const story = queueStory(db);
    await threads.insert(freshThread(1));
    const run_id = await story.add(threadId(1));
    expect((await threads.get(threadId(1)))?.status).toBe('busy');
    expect((await threads.get(threadId(1), ['status']))?.status).toBe('busy');
    await story.queue.deleteRun(threadId(1), run_id);
    expect((await threads.get(threadId(1)))?.status).toBe('idle');
  });

  test('have the state that a run left', async () => {
    await using db = await open();
    const threads = threadRepository(db);
    const { add, queue } = queueStory(db);
    await threads.insert(freshThread(1));
    const run_id = await add(threadId(1));
    const [claimed] = await queue.claim({ worker_id: threadId(8), token: threadId(9), limit: 1 });
    expect(claimed?.lease.run_id).toBe(run_id);
    const interrupts = { task: [{ id: 'i', value: { question: '?' } }] };
    const thread = {
      status: 'interrupted',
      values: serializeState({ n: 2 }),
      interrupts,
      config: { configurable: {} },
    } as const;
    await queue.finish(claimed!.lease, successful({ thread, at: at(7) }));
    expect(await threads.get(threadId(1))).toMatchObject({
      status: 'interrupted',
      values: { n: 2 },
      interrupts,
      error: null,
      config: { configurable: {} },
      state_updated_at: at(7),
    });
  });
});

describeEachStorage('a state update from outside', (open) => {
  test('writes values, status and interrupts, and clears the error', async () => {
    await using db = await open();
    const threads = threadRepository(db);
    await threads.insert(freshThread(1, { metadata: { a: 1 } }));
    const error = '{"error":"Error","message":"boom"}';
    await db.run(sql`update threads set status = 'error', error = ${error}, interrupts = '{}'`);
    expect((await threads.get(threadId(1)))?.error).toEqual(JSON.parse(error));
    const interrupts = { task: [{ id: 'i', value: 1 }] };
    const state = {
      values: { messages: ['hi'] },
      status: 'interrupted',
      interrupts,
      metadata: { b: 2 },
    } as const;
    expect(await threads.setState(threadId(1), state, at(4))).toBe('updated');
    expect(await threads.get(threadId(1))).toEqual({
      ...freshThread(1, { metadata: { a: 1, b: 2 }, updated_at: at(4), state_updated_at: at(4) }),
      values: { messages: ['hi'] },
      status: 'interrupted',
      interrupts,
      error: null,
    });
  });

  test('gives a thread without runs its configuration, and replaces the values of one with runs', async () => {
    await using db = await open();
    const threads = threadRepository(db);
    await threads.insert(freshThread(1));
    await threads.setState(threadId(1), newState({ n: 1 }), at(2));
    await threads.setState(threadId(1), newState({ m: 2 }), at(3));
    expect(await threads.get(threadId(1))).toMatchObject({
      values: { m: 2 },
      interrupts: {},
      config: { configurable: {} },
    });
  });

  test('is refused while a run is in flight, and for a missing thread', async () => {
    await using db = await open();
    const threads = threadRepository(db);
    await queueStory(db).add(threadId(1));
    expect(await threads.setState(threadId(1), newState({ n: 1 }), at(2))).toBe('busy');
    expect((await threads.get(threadId(1)))?.values).toBeNull();
    expect(await threads.setState(threadId(2), newState({ n: 1 }), at(2))).toBe('missing');
  });

  test('deleting a run gives its thread the status of its state, unless another is in flight or the last one failed', async () => {
    await using db = await open();
    const threads = threadRepository(db);
    const asks = { task: [{ id: 'i', value: 'ok?' }] };
    await threads.insert(freshThread(1));
    await threads.refresh(threadId(1), { status: 'interrupted', interrupts: {} });
    expect(await threads.get(threadId(1))).toEqual(freshThread(1, { status: 'interrupted' }));
    await threads.refresh(threadId(1), { status: 'interrupted', interrupts: asks });
    expect(await threads.get(threadId(1))).toMatchObject({ interrupts: asks });
    await threads.refresh(threadId(1), { status: 'idle', interrupts: {} });
    expect(await threads.get(threadId(1))).toMatchObject({ status: 'idle', interrupts: {} });

    const run_id = await queueStory(db).add(threadId(1));
    await threads.refresh(threadId(1), { status: 'interrupted', interrupts: asks });
    await queueStory(db).queue.deleteRun(threadId(1), run_id);
    expect(await threads.get(threadId(1))).toMatchObject({ status: 'idle', interrupts: {} });

    await db.run(sql`update threads set status = 'error'`);
    await threads.refresh(threadId(1), { status: 'idle', interrupts: {} });
    expect(await threads.get(threadId(1))).toMatchObject({ status: 'error' });
  });
});

import { expect, test } from 'vitest';
import { InvalidInput } from '../../src/core/errors.ts';
import { type RunList, runRepository } from '../../src/storage/runs/runs.ts';
import { describeEachStorage } from '../support/databases.ts';
import { failure } from '../support/naming.ts';
import { KWARGS, newRun, queueStory, request } from '../support/queued-runs.ts';
import { at, threadId } from '../support/stored-threads.ts';

describeEachStorage('runs', (open) => {
  test('are read as they were queued', async () => {
    await using db = await open();
    const runs = runRepository(db);
    const run = {
      ...newRun(threadId(1)),
      metadata: { a: 1 },
      kwargs: { ...KWARGS, input: { text: 'ü' } },
    };
    await queueStory(db).queue.enqueue(request(run));
    expect(await runs.get(threadId(1), run.run_id)).toEqual(run);
    expect(await runs.get(undefined, run.run_id)).toEqual(run);
  });

  test('are not found under another thread', async () => {
    await using db = await open();
    const runs = runRepository(db);
    const run_id = await queueStory(db).add(threadId(1));
    expect(await runs.get(threadId(2), run_id)).toBeUndefined();
    expect(await runs.get(undefined, threadId(9))).toBeUndefined();
  });

  test('of a thread are listed newest first, in pages, and by status', async () => {
    await using db = await open();
    const runs = runRepository(db);
    const { queue, claimed, add } = queueStory(db);
    const made = [3, 1, 2].map((second) => ({ ...newRun(threadId(1)), created_at: at(second) }));
    for (const run of made) await queue.enqueue(request(run));
    await add(threadId(2));
    const [newest, oldest, middle] = made.map((run) => run.run_id);
    const list = async (query: { limit: number; offset: number; status?: string }) =>
      (await runs.list(threadId(1), query)).map((run) => run.run_id);
    expect(await list({ limit: 10, offset: 0 })).toEqual([newest, middle, oldest]);
    expect(await list({ limit: 2, offset: 1 })).toEqual([middle, oldest]);
    await claimed();
    expect(await list({ limit: 10, offset: 0, status: 'running' })).toEqual([newest]);
    expect(await list({ limit: 10, offset: 0, status: 'pending' })).toEqual([middle, oldest]);
    expect(await list({ limit: 10, offset: 0, status: 'no such status' })).toEqual([]);
  });

  test('are measured by their selected fields before they are listed', async () => {
    await using db = await open();
    const runs = runRepository(db);
    const { queue } = queueStory(db);
    for (const text of ['x'.repeat(1000), 'x'.repeat(1000), 'x'.repeat(1000)])
      await queue.enqueue(request({ ...newRun(threadId(1)), kwargs: { ...KWARGS, input: { text } } }));
    const list = (query: Partial<RunList>) =>
      runs.list(threadId(1), { limit: 10, offset: 0, ...query }, undefined, 2000);
    await expect(list({})).rejects.toThrow(failure(InvalidInput, 'runs', 2000));
    await expect(list({ select: ['kwargs'] })).rejects.toThrow(failure(InvalidInput, 'limit'));
    expect(await list({ select: ['run_id', 'status'] })).toHaveLength(3);
    expect(await list({ limit: 1 })).toHaveLength(1);
    expect(await list({ offset: 3 })).toEqual([]);
  });

  test('are listed without the JSON that is not selected', async () => {
    await using db = await open();
    const runs = runRepository(db);
    const run_id = await queueStory(db).add(threadId(1));
    const listed = (select: RunList['select']) => runs.list(threadId(1), { limit: 10, offset: 0, select });
    const [run] = await listed(['run_id']);
    expect([run?.run_id, run && 'kwargs' in run, run && 'metadata' in run]).toEqual([run_id, false, false]);
    expect((await listed(['kwargs']))[0]).toMatchObject({ run_id, kwargs: KWARGS });
  });

  test('of an assistant are found on every thread', async () => {
    await using db = await open();
    const runs = runRepository(db);
    const { queue, add } = queueStory(db);
    const assistant_id = threadId(7);
    const made = [1, 2, 3].map((n) => ({ ...newRun(threadId(n)), assistant_id }));
    for (const run of made) await queue.enqueue(request(run));
    await add(threadId(1));
    const found = await runs.findByAssistant(assistant_id, 10);
    expect(found.map((run) => run.run_id).sort()).toEqual(made.map((run) => run.run_id).sort());
    expect(await runs.findByAssistant(assistant_id, 2)).toHaveLength(2);
  });

  test('have the reason of a cancel if selected', async () => {
    await using db = await open();
    const runs = runRepository(db);
    const { queue, add } = queueStory(db);
    const [one, other] = [await add(threadId(1)), await add(threadId(1))];
    const error = { error: 'UserInterrupt', message: 'asked for' };
    await queue.cancel(threadId(1), [one], { action: 'interrupt', error, log_retention_ms: 1000 });
    await queue.cancel(threadId(1), [other], {
      action: 'interrupt',
      error,
      reason: 'taken: asked for',
      log_retention_ms: 1000,
    });
    const reasons = (await runs.list(threadId(1), { limit: 10, offset: 0, select: ['cancel_reason'] })).map(
      ({ run_id, cancel_reason }) => [run_id, cancel_reason],
    );
    expect(Object.fromEntries(reasons)).toEqual({ [one]: 'asked for', [other]: 'taken: asked for' });
    expect(await runs.exist(threadId(1), [one, threadId(9)])).toBe(true);
    expect(await runs.exist(threadId(2), [one])).toBe(false);
  });

  test('in flight are found by status, without those already cancelled', async () => {
    await using db = await open();
    const { queue, add, claimed } = queueStory(db);
    const [executing, waiting, behind] = [
      await add(threadId(1)),
      await add(threadId(1)),
      await add(threadId(2)),
    ];
    await claimed(1);
    const found = async (status: 'pending' | 'running' | 'all', limit = 10) =>
      (await queue.inFlight(status, limit)).map((run) => run.run_id);
    expect(await found('running')).toEqual([executing]);
    expect(await found('pending')).toEqual([waiting, behind]);
    expect(await found('all', 2)).toEqual([executing, waiting]);
    const error = { error: 'UserInterrupt', message: 'asked for' };
    await queue.cancel(threadId(1), [executing], { action: 'interrupt', error, log_retention_ms: 1000 });
    expect(await found('running')).toEqual([]);
  });
});

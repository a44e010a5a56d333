import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { systemActor } from '../../src/auth/actor.ts';
import { systemClock } from '../../src/core/clock.ts';
import type { Db } from '../../src/db/db.ts';
import { threadExplain } from '../../src/services/threads/thread-explain.ts';
import { threadRepository } from '../../src/storage/threads/threads.ts';
import { serializeState } from '../../src/storage/threads/values-summary.ts';
import { describeEachDatabase } from '../support/databases.ts';
import { naming } from '../support/naming.ts';
import { partsOf } from '../support/parts-of.ts';
import { newThread, queueStory, successful, WORKER } from '../support/queued-runs.ts';

function story(db: Db) {
  const parts = queueStory(db);
  const threads = threadRepository(db);
  const { explain } = threadExplain({
    threads,
    queue: parts.queue,
    clock: systemClock,
    max_attempts: 3,
    worker_id: WORKER.worker_id,
    graphs: partsOf({ hosts: () => [], placeOf: () => ({ waitsForOwnHost: false }), loads: () => 1 }),
    stepsNow: async () => undefined,
  });
  return {
    ...parts,
    threads,
    async take() {
      await parts.queue.heartbeat(WORKER, 60_000);
      return parts.queue.claim({ worker_id: WORKER.worker_id, token: randomUUID(), limit: 1 });
    },
    explain: (thread_id: string) => explain(systemActor('test'), thread_id),
  };
}

const interrupted = (interrupts: object) =>
  ({
    status: 'interrupted',
    values: serializeState({ n: 1 }),
    interrupts,
    config: {},
  }) as ReturnType<typeof successful>['thread'];

describeEachDatabase('the explanation of a thread', (open) => {
  test('reports that a new thread is idle', async () => {
    await using db = await open();
    const { threads, explain } = story(db);
    const thread = newThread(randomUUID());
    await threads.insert(thread);

    expect(await explain(thread.thread_id)).toEqual({
      thread_id: thread.thread_id,
      status: 'idle',
      summary: naming('Idle: '),
      runs: [],
      n_runs: 0,
      interrupts: [],
      last_run: null,
      error: null,
    });
  });

  test('names the executing run and the queued ones in order', async () => {
    await using db = await open();
    const { add, take, explain } = story(db);
    const thread_id = randomUUID();
    const first = await add(thread_id);
    await take();
    const second = await add(thread_id);
    const third = await add(thread_id);
    const later = await add(thread_id, { order: { delay_ms: 3_600_000 } });

    const explained = await explain(thread_id);
    expect(explained).toMatchObject({
      status: 'busy',
      n_runs: 4,
      runs: [
        { run_id: first, state: 'running', behind: null, attempt: 1 },
        { run_id: second, state: 'waiting', behind: first, attempt: 0 },
        { run_id: third, state: 'waiting', behind: second, attempt: 0 },
        { run_id: later, state: 'delayed', behind: null, attempt: 0 },
      ],
    });
    expect(explained.summary).toEqual(
      naming(`Busy with run ${first}. Attempt 1; executed by worker`, '3 more runs'),
    );
  });

  test('names what the first run waits for', async () => {
    await using db = await open();
    const { add, explain } = story(db);
    const [ready, delayed] = [randomUUID(), randomUUID()];
    await add(ready);
    await add(delayed, { order: { delay_ms: 3_600_000 } });

    expect((await explain(ready)).summary).toMatch(/^Busy with run .*\. Ready, but no worker/);
    expect((await explain(delayed)).summary).toMatch(/^Busy with run .*\. Waits until .*\.$/);
  });

  test('reports that a cancelled run is still executing', async () => {
    await using db = await open();
    const { add, take, queue, explain } = story(db);
    const thread_id = randomUUID();
    const run_id = await add(thread_id);
    await take();
    const error = { error: 'UserInterrupt', message: 'asked for' };
    await queue.cancel(thread_id, [run_id], { action: 'interrupt', error, log_retention_ms: 1000 });

    expect(await explain(thread_id)).toMatchObject({
      runs: [{ state: 'running', cancel_action: 'interrupt' }],
      summary: expect.stringContaining('It was cancelled (interrupt)'),
    });
  });

  test('names the interrupts that wait for an answer', async () => {
    await using db = await open();
    const { add, take, queue, explain } = story(db);
    const thread_id = randomUUID();
    const run_id = await add(thread_id);
    const [claimed] = await take();
    const asked = [
      { id: 'i1', value: 'May I?' },
      { id: 'i2', value: { tool: 'mail' } },
    ];
    await queue.finish(claimed!.lease, successful({ thread: interrupted({ t1: asked }) }));

    expect(await explain(thread_id)).toMatchObject({
      status: 'interrupted',
      summary: naming('Interrupted: 2 interrupts', '(i1, i2)', '{"resume": …}'),
      interrupts: asked.map((interrupt) => ({ ...interrupt, task_id: 't1' })),
      last_run: { run_id, status: 'success' },
    });
  });

  test('names how to continue a graph that stopped without an interrupt', async () => {
    await using db = await open();
    const { add, take, queue, explain } = story(db);
    const thread_id = randomUUID();
    await add(thread_id);
    const [claimed] = await take();
    await queue.finish(claimed!.lease, successful({ thread: interrupted({}) }));

    expect((await explain(thread_id)).summary).toEqual(
      naming('Interrupted: its graph stopped', '"input": null'),
    );
  });

  test('names the failed run and its error', async () => {
    await using db = await open();
    const { add, take, queue, explain } = story(db);
    const thread_id = randomUUID();
    const run_id = await add(thread_id);
    const [claimed] = await take();
    const error = { error: 'RangeError', message: 'out of range' };
    const thread = { ...successful().thread, status: 'error' as const };
    await queue.finish(claimed!.lease, successful({ status: 'error', error, thread }));

    const explained = await explain(thread_id);
    expect(explained).toMatchObject({
      status: 'error',
      error,
      last_run: { run_id, status: 'error', error },
    });
    expect(explained.summary).toMatch(/^Error: .* status error: RangeError: out of range\. A new run/);
  });

  test('lists at most a hundred runs and counts all of them', async () => {
    await using db = await open();
    const { add, explain } = story(db);
    const thread_id = randomUUID();
    for (let i = 0; i < 103; i++) await add(thread_id);

    const { runs, n_runs } = await explain(thread_id);
    expect([runs.length, n_runs]).toEqual([100, 103]);
  });
});

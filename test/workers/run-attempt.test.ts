import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { expect, test } from 'vitest';
import { Unavailable } from '../../src/core/errors.ts';
import { sql } from '../../src/db/sql.ts';
import { follow } from '../../src/events/follow.ts';
import type { GraphEvent } from '../../src/graphs/graph.ts';
import type { Run } from '../../src/schemas/runs.ts';
import { runEventRepository } from '../../src/storage/runs/events.ts';
import type { WriteBuffer } from '../../src/storage/runs/write-buffer.ts';
import { threadRepository } from '../../src/storage/threads/threads.ts';
import { describeEachDatabase } from '../support/databases.ts';
import { executingWorker } from '../support/executing-worker.ts';
import { liveSources } from '../support/live-sources.ts';
import { modelCall } from '../support/model-call.ts';
import { scriptedGraph, untilStopped } from '../support/scripted-graph.ts';

type At = ReturnType<typeof executingWorker>;

async function rollBack({ queue }: At, { run_id, thread_id }: Run): Promise<void> {
  const error = { error: 'UserRollback', message: 'asked' };
  await queue.cancel(thread_id, [run_id], { action: 'rollback', error, log_retention_ms: 1000 });
}

async function takeOver({ db }: At, { run_id }: Run): Promise<void> {
  await db.run(sql`update run_queue set lease_token = ${randomUUID()}, worker_id = ${randomUUID()}
    where run_id = ${run_id}`);
}

async function* twoValues(): AsyncGenerator<GraphEvent> {
  yield { event: 'values', data: { n: 1 } };
  yield { event: 'values', data: { n: 2 } };
}

describeEachDatabase('an attempt', (open) => {
  test('streams the graph and ends the run with its state', async () => {
    await using db = await open();
    const at = executingWorker(db, scriptedGraph(twoValues, { values: { n: 2 } }));
    at.worker.start();
    const run = await at.enqueue();
    expect(await at.ended(run)).toBe('success');
    expect(await at.events(run)).toEqual([
      ['metadata', { run_id: run.run_id, attempt: 1 }],
      ['values', { n: 1 }],
      ['values', { n: 2 }],
      ['__end__', { status: 'success' }],
    ]);
    expect(await threadRepository(db).get(run.thread_id)).toMatchObject({ values: { n: 2 } });
    await at.worker.stop(0);
  });

  test('a graph that throws ends its run as an error that reveals neither paths nor passwords', async () => {
    await using db = await open();
    const graph = scriptedGraph(async function* () {
      yield { event: 'values', data: {} };
      throw new TypeError('no /srv/app/agents/secret.ts at postgres://joe:hunter2@db/x');
    });
    const at = executingWorker(db, graph);
    at.worker.start();
    const run = await at.enqueue();
    expect(await at.ended(run)).toBe('error');
    const error = { error: 'TypeError', message: 'no secret.ts at postgres://***@db/x' };
    expect((await at.events(run)).slice(-2)).toEqual([
      ['error', error],
      ['__end__', { status: 'error', error: error.message }],
    ]);
    await at.worker.stop(0);
  });

  test('a run that takes too long ends as a timeout', async () => {
    await using db = await open();
    const at = executingWorker(db, scriptedGraph(untilStopped), { timeout_ms: 20 });
    at.worker.start();
    const run = await at.enqueue();
    expect(await at.ended(run)).toBe('timeout');
    expect(await at.events(run)).toContainEqual(['error', { error: 'TimeoutError', message: '' }]);
    await at.worker.stop(0);
  });

  test('a run that times out before its graph starts ends as a timeout', async () => {
    await using db = await open();
    const at = executingWorker(db, scriptedGraph(untilStopped), { timeout_ms: 1 });
    at.worker.start();
    expect(await at.ended(await at.enqueue({ resumable: true }))).toBe('timeout');
    await at.worker.stop(0);
  });

  test('a cancelled run stops with the reason', async () => {
    await using db = await open();
    const at = executingWorker(db, scriptedGraph(untilStopped));
    at.worker.start();
    const { run, error } = await at.interrupted();
    expect(await at.events(run)).toContainEqual(['error', error]);
    await at.worker.stop(0);
  });

  test('a run whose storage failed is retried', async () => {
    await using db = await open();
    let calls = 0;
    const graph = scriptedGraph(() => {
      if (++calls === 1) throw new Unavailable('the database is away');
      return twoValues();
    });
    const at = executingWorker(db, graph);
    at.worker.start();
    const run = await at.enqueue();
    await expect.poll(() => calls).toBe(1);
    await expect.poll(() => at.worker.active).toBe(0);
    at.bus.emit('run.ready');
    expect(await at.ended(run)).toBe('success');
    expect((await at.events(run)).filter(([event]) => event === 'metadata')).toEqual([
      ['metadata', { run_id: run.run_id, attempt: 1 }],
      ['metadata', { run_id: run.run_id, attempt: 2 }],
    ]);
    await at.worker.stop(0);
  });

  test('a stopping worker requeues its runs without charging the attempt', async () => {
    await using db = await open();
    const at = executingWorker(db, scriptedGraph(untilStopped));
    at.worker.start();
    const run = await at.abandoned();
    expect(await at.statusOf(run.run_id)).toBe('pending');
    expect(await db.get(sql`select state, attempt from run_queue`)).toEqual({ state: 'ready', attempt: 0 });
  });

  test('a rolled-back run makes room for the next one, even if its worker learns of it only from storage', async () => {
    await using db = await open();
    let written: (() => void) | undefined;
    const graph = scriptedGraph(async function* ({ signal }) {
      yield { event: 'values', data: {} };
      await Promise.race([once(signal, 'abort'), new Promise<void>((resolve) => (written = resolve))]);
      yield { event: 'values', data: {} };
      signal.throwIfAborted();
    });
    const at = executingWorker(db, graph);
    at.worker.start();
    const run = await at.enqueue();
    await expect.poll(() => written).toBeDefined();
    const error = { error: 'UserRollback', message: 'asked' };
    await at.queue.cancel(run.thread_id, [run.run_id], { action: 'rollback', error, log_retention_ms: 1000 });
    // Nobody tells the worker; its next write is refused.
    written?.();
    expect(await at.ended(run)).toBeUndefined();
    await at.worker.stop(0);
  });

  test.for([
    ['rolled back', rollBack],
    ['taken by another process', takeOver],
  ] as const)(
    'the calls of models of a run that is %s count, even if its worker learns of it only from storage',
    async ([_what, rid]) => {
      await using db = await open();
      let writes: WriteBuffer | undefined;
      let written: (() => void) | undefined;
      const graph = scriptedGraph(async function* ({ signal }) {
        writes?.addSteps([modelCall(1, 10)]);
        await new Promise<void>((resolve) => (written = resolve));
        yield { event: 'values', data: {} };
        await once(signal, 'abort');
        signal.throwIfAborted();
      });
      const at = executingWorker(db, graph, {}, (_queue, openWrites) => ({
        writes: (...args) => (writes = openWrites(...args)),
      }));
      at.worker.start();
      const run = await at.enqueue();
      await expect.poll(() => written).toBeDefined();
      await rid(at, run);
      written?.();
      await expect.poll(() => at.worker.active).toBe(0);
      expect(at.counted).toMatchObject([{ kind: 'model', tokens_in: 10 }]);
      await at.worker.stop(0);
    },
  );

  test('a run whose end storage refuses for a while ends when storage works again', async () => {
    await using db = await open();
    const at = executingWorker(db, scriptedGraph(twoValues));
    at.worker.start();
    // What refuses the end of a run and nothing before it: its log cannot be closed.
    await db.run(sql`alter table run_event_expiry rename to mislaid`);
    const run = await at.enqueue();
    const place = () => db.get(sql`select state, attempt from run_queue where run_id = ${run.run_id}`);
    // The second attempt follows the first one at once, the third after a back-off.
    await expect.poll(place).toEqual({ state: 'ready', attempt: 2 });
    await db.run(sql`alter table mislaid rename to run_event_expiry`);
    expect(await at.ended(run)).toBe('success');
    await at.worker.stop(0);
    expect(at.statuses).toEqual(['success']);
  });

  test.for([true, false])(
    'a run whose result storage refuses ends as an error, with its usage and without unstored events (resumable: %s)',
    async (resumable) => {
      await using db = await open();
      const { poll } = liveSources(db);
      let writes: WriteBuffer | undefined;
      const followed = Promise.withResolvers<void>();
      const graph = scriptedGraph(async function* () {
        await followed.promise;
        writes?.addSteps([modelCall(1, 10)]);
        yield* twoValues();
      });
      const at = executingWorker(db, graph, {}, (queue, openWrites) => ({
        writes: (...args) => (writes = openWrites(...args)),
        queue: {
          ...queue,
          async finish(lease, end) {
            if (end.status === 'success') throw new TypeError('too large');
            return queue.finish(lease, end);
          },
        },
      }));
      at.worker.start();
      const run = await at.enqueue({ resumable });
      const log = runEventRepository(db);
      const seen: string[] = [];
      for await (const { event } of follow(
        { ...at, log, unsharedLog: log, poll },
        run.run_id,
        0,
        AbortSignal.timeout(30_000),
      )) {
        seen.push(event);
        if (event === 'metadata') followed.resolve();
      }
      expect(await at.ended(run)).toBe('error');
      const stored = (await at.events(run)).map(([event]) => event);
      expect(stored.slice(-2)).toEqual(['error', '__end__']);
      expect(seen.filter((event) => event !== 'values')).toEqual(['metadata', 'error']);
      if (resumable) expect(seen).toEqual(stored.slice(0, -1));
      expect(at.counted).toMatchObject([{ kind: 'model', tokens_in: 10 }]);
      expect(await db.all(sql`select status from run_attempts`)).toEqual([{ status: 'error' }]);
      await at.worker.stop(0);
    },
  );

  test('an attempt that lost its lease writes nothing at its end', async () => {
    await using db = await open();
    const at = executingWorker(db, scriptedGraph(untilStopped));
    at.worker.start();
    const run = await at.enqueue();
    await expect.poll(() => at.statusOf(run.run_id)).toBe('running');
    await at.queue.deleteRun(run.thread_id, run.run_id);
    at.bus.emit('run.cancelled', run.run_id);
    await expect.poll(() => at.worker.active).toBe(0);
    expect(await at.events(run)).toEqual([]);
    await at.worker.stop(0);
  });
});

import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { systemActor } from '../../src/auth/actor.ts';
import { RunCreate } from '../../src/schemas/runs.ts';
import { ThreadCreate } from '../../src/schemas/threads.ts';
import { emptyBatch } from '../../src/storage/runs/batch.ts';
import { FAILURE_RULES, WORKER } from '../support/queued-runs.ts';
import { openServices, type TestServices } from '../support/services.ts';

const actor = systemActor('test');
const ASKS = [[{ value: { question: 'ok?' } }]];

/** A thread whose newest checkpoint asks a question, which its row does not know. */
async function askingUnseen({ threads, runs, storage, execute }: TestServices) {
  const { thread_id } = await threads.create(actor, ThreadCreate.parse({}));
  await execute(thread_id, 'interrupting', { x: 1 });
  return {
    thread_id,
    async row() {
      const { values, status, error, interrupts = {} } = await threads.get(actor, thread_id);
      return { values, status, error, asked: Object.values(interrupts) };
    },
    async enqueue(): Promise<string> {
      const run = RunCreate.parse({ assistant_id: 'interrupting', input: { x: 2 } });
      return (await runs.create(actor, thread_id, run, 'background')).run_id;
    },
    /** A worker begins the run and returns it to the queue, once as a failure, which ends it after `max_attempts`. */
    async release(max_attempts: number) {
      const [claimed] = await storage.queue.claim({ ...WORKER, token: randomUUID(), limit: 1 });
      if (!claimed) throw new Error('There is no run to claim.');
      const failure = { ...FAILURE_RULES, max_attempts };
      await storage.queue.requeue(claimed.lease, { charge: true, delay_ms: 0, batch: emptyBatch(), failure });
    },
    cancel: (run_id: string) =>
      runs.cancel(
        actor,
        thread_id,
        run_id,
        { action: 'interrupt', wait: false },
        new AbortController().signal,
      ),
  };
}

test('a run that is cancelled while it waits for its next attempt leaves its state on the thread', async () => {
  await using services = await openServices();
  const thread = await askingUnseen(services);
  const run_id = await thread.enqueue();
  await thread.release(2);
  await thread.cancel(run_id);
  expect(await thread.row()).toMatchObject({
    values: { x: 1, log: ['a:1'] },
    status: 'interrupted',
    asked: ASKS,
    error: { error: 'UserInterrupt' },
  });
});

test('a run that is out of attempts leaves its state on the thread, next to its error', async () => {
  await using services = await openServices();
  const thread = await askingUnseen(services);
  const run_id = await thread.enqueue();
  await thread.release(1);
  await services.storeStateAfterRun({ run_id, thread_id: thread.thread_id });
  expect(await thread.row()).toMatchObject({
    values: { x: 1, log: ['a:1'] },
    status: 'error',
    asked: ASKS,
    error: FAILURE_RULES.exhausted,
  });
});

test('the next run, cancelled before it begins, does not hide the state of the one before it', async () => {
  await using services = await openServices();
  const thread = await askingUnseen(services);
  const first = await thread.enqueue();
  const second = await thread.enqueue();
  await thread.release(1);
  // The second one is in flight, and would store the state at its end.
  await services.storeStateAfterRun({ run_id: first, thread_id: thread.thread_id });
  expect((await thread.row()).asked).toEqual([]);
  await thread.cancel(second);
  expect(await thread.row()).toMatchObject({ status: 'error', asked: ASKS, error: FAILURE_RULES.exhausted });
});

test('a run that is cancelled before it begins leaves its thread unchanged', async () => {
  await using services = await openServices();
  const thread = await askingUnseen(services);
  const before = await thread.row();
  await thread.cancel(await thread.enqueue());
  expect(await thread.row()).toEqual(before);
});

test('a run of a graph that is no longer configured can be cancelled, and its thread keeps its values', async () => {
  await using services = await openServices();
  const thread = await askingUnseen(services);
  const run_id = await thread.enqueue();
  await thread.release(2);
  await services.threads.update(actor, thread.thread_id, { metadata: { graph_id: 'gone' } });
  await thread.cancel(run_id);
  expect(await services.storage.queue.position(run_id)).toBeUndefined();
  expect((await thread.row()).asked).toEqual([]);
});

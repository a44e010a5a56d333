import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import type { Db } from '../../src/db/db.ts';
import { sql } from '../../src/db/sql.ts';
import type { Lease } from '../../src/storage/runs/lease.ts';
import { threadRepository } from '../../src/storage/threads/threads.ts';
import { describeEachDatabase } from '../support/databases.ts';
import { FAILURE_RULES, newRun, queueStory, request, successful, WORKER } from '../support/queued-runs.ts';
import { newState } from '../support/stored-threads.ts';

/** A thread on which a run has failed without its worker, and left a checkpoint. */
async function failedRun(db: Db) {
  const { queue } = queueStory(db);
  const thread_id = randomUUID();
  const begin = async (created_at = new Date().toISOString()): Promise<Lease> => {
    const run = { ...newRun(thread_id), created_at };
    await queue.enqueue(request(run));
    const [claimed] = await queue.claim({ ...WORKER, token: randomUUID(), limit: 1 });
    if (!claimed) throw new Error('There is no run to claim.');
    return claimed.lease;
  };
  const fail = async (lease: Lease) => {
    const batch = { frames: [], writes: [], steps: [] };
    const failure = { ...FAILURE_RULES, max_attempts: 1 };
    await queue.requeue(lease, { charge: true, delay_ms: 0, batch, failure });
  };
  const addCheckpoint = (id: string) =>
    db.run(sql`insert into checkpoints (thread_id, ns, checkpoint_id, checkpoint, versions, metadata)
      values (${thread_id}, '', ${id}, '{}', '{}', '{}')`);
  const lease = await begin();
  await addCheckpoint('c1');
  await fail(lease);
  const threads = threadRepository(db);
  return {
    ...{ queue, threads, run: lease, begin, fail, addCheckpoint },
    store: (of: Lease = lease) =>
      threads.setStateAfterRun(of, { ...newState({ n: 1 }), checkpoint_id: 'c1' }),
    row: async () => threads.get(thread_id),
  };
}

describeEachDatabase('the state that a run left', (open) => {
  test('is stored next to the error of the run, once', async () => {
    await using db = await open();
    const { threads, run, store, row } = await failedRun(db);
    expect(await threads.lacksState(run)).toBe(true);
    expect(await store()).toBe(true);
    const { exhausted: error } = FAILURE_RULES;
    expect(await row()).toMatchObject({ values: { n: 1 }, status: 'error', error, interrupts: {} });
    // Of a later run that never began.
    expect(await threads.lacksState({ ...run, run_id: randomUUID() })).toBe(false);
  });

  test('is not stored behind a newer checkpoint', async () => {
    await using db = await open();
    const { store, row, addCheckpoint } = await failedRun(db);
    await addCheckpoint('c2');
    expect(await store()).toBe(false);
    expect((await row())?.values).toBeNull();
  });

  test('is not stored while another run is in flight, nor after it', async () => {
    await using db = await open();
    const { queue, threads, run, store, begin, row } = await failedRun(db);
    const next = await begin();
    expect(await store()).toBe(false);
    await queue.finish(next, successful({ at: new Date().toISOString() }));
    expect(await threads.lacksState(run)).toBe(false);
    expect(await store()).toBe(false);
    expect((await row())?.values).toEqual({ n: 2 });
  });
});

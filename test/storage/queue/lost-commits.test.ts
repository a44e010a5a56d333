import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { WritesLost } from '../../../src/core/errors.ts';
import type { Db } from '../../../src/db/db.ts';
import { sql } from '../../../src/db/sql.ts';
import { runQueue } from '../../../src/storage/queue/queue.ts';
import { runEventRepository } from '../../../src/storage/runs/events.ts';
import { describeEachDatabase } from '../../support/databases.ts';
import { interleaved } from '../../support/interleaved-db.ts';
import { attemptWrites, queueStory, successful, WORKER } from '../../support/queued-runs.ts';

function lostClaim(db: Db) {
  return runQueue(db).claim({ worker_id: randomUUID(), token: randomUUID(), limit: 10 });
}

describeEachDatabase('a database that lost commits', (open) => {
  async function crashed(db: Db) {
    const { queue, add } = queueStory(db);
    const thread_id = randomUUID();
    const run_id = await add(thread_id);
    const [claimed] = await queue.claim({ worker_id: WORKER.worker_id, token: randomUUID(), limit: 1 });
    const writes = attemptWrites(db, claimed!.lease);
    for (const seq of [1, 2, 3]) {
      writes.addFrame({ seq, event: 'values', data: '{}' }, false);
      await writes.commit();
    }
    // The last commit was not durable yet.
    await db.run(sql`delete from run_events where run_id = ${run_id} and seq = 3`);
    await db.run(sql`update run_queue set batches = 2 where run_id = ${run_id}`);
    return { queue, run_id, lease: claimed!.lease, writes, add, thread_id };
  }

  test('refuses a commit that would leave a gap, and the run continues from the stored steps', async () => {
    await using db = await open();
    const { queue, run_id, lease, writes } = await crashed(db);
    writes.addFrame({ seq: 4, event: 'values', data: '{}' }, false);
    await expect(writes.commit()).rejects.toThrow(WritesLost);

    const batch = await writes.drain();
    expect(await queue.requeue(lease, { charge: true, delay_ms: 0, batch })).toMatchObject({
      outcome: 'ready',
    });
    expect(await runEventRepository(db).lastSeq(run_id)).toBe(2);
    const [again] = await lostClaim(db);
    expect(again).toMatchObject({ last_seq: 2, lease: { run_id, attempt: 2 } });
  });

  test('refuses an end of a run that depends on lost commits', async () => {
    await using db = await open();
    const { queue, run_id, lease, writes } = await crashed(db);
    const batch = await writes.drain();
    expect(await queue.finish(lease, successful({ batch }))).toEqual({ outcome: 'writes lost' });
    expect(await queue.position(run_id)).toBeDefined();
  });

  test('ends a cancelled run all the same, because no attempt resumes from the lost commits', async () => {
    await using db = await open();
    const { queue, run_id, thread_id, lease, writes } = await crashed(db);
    const error = { error: 'UserInterrupt', message: 'asked' };
    await queue.cancel(thread_id, [run_id], { action: 'interrupt', error, log_retention_ms: 1 });
    const batch = await writes.drain();
    expect(await queue.finish(lease, successful({ batch }))).toMatchObject({
      ending: { status: 'interrupted' },
    });
    expect(await queue.position(run_id)).toBeUndefined();
  });

  test('accepts the same batch again when the acknowledgement of its commit was lost', async () => {
    await using db = await open();
    const { queue, add } = queueStory(db);
    const run_id = await add(randomUUID());
    const [claimed] = await queue.claim({ worker_id: WORKER.worker_id, token: randomUUID(), limit: 1 });
    const line = interleaved(db);
    const writes = attemptWrites(line, claimed!.lease);
    writes.addFrame({ seq: 1, event: 'values', data: '{}' }, false);
    line.pause('after commit').fail(new Error('the line was cut'));
    await expect(writes.commit()).rejects.toThrow('the line was cut');
    const batch = await writes.drain();
    expect(batch).toMatchObject({ follows: 0, frames: [{ seq: 1 }] });
    expect(await queue.finish(claimed!.lease, successful({ batch }))).toMatchObject({ outcome: 'finished' });
    expect(await runEventRepository(db).lastSeq(run_id)).toBe(2);
  });
});

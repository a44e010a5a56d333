import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import type { Db } from '../../src/db/db.ts';
import type { CurrentStep } from '../../src/schemas/steps.ts';
import { checkpointRepository } from '../../src/storage/checkpoints/checkpoints.ts';
import type { NewCheckpoint } from '../../src/storage/checkpoints/put.ts';
import type { ClaimedRun } from '../../src/storage/queue/claim.ts';
import { ActiveAttempts } from '../../src/storage/runs/active-attempts.ts';
import { runStepRepository } from '../../src/storage/runs/steps.ts';
import { WriteBuffer } from '../../src/storage/runs/write-buffer.ts';
import { describeEachDatabase } from '../support/databases.ts';
import { modelCall } from '../support/model-call.ts';
import { queueStory, successful, WORKER } from '../support/queued-runs.ts';

async function executing(db: Db) {
  const { queue, add } = queueStory(db);
  const thread_id = randomUUID();
  const run_id = await add(thread_id);
  const [claimed] = await queue.claim({ worker_id: WORKER.worker_id, token: randomUUID(), limit: 1 });
  const { lease } = claimed as ClaimedRun;
  const open = new ActiveAttempts();
  const checkpoints = checkpointRepository(db, open);
  const writes = new WriteBuffer(db, lease, { onCommitted: () => {}, onError: () => {} }, { active: open });
  const checkpoint: NewCheckpoint = {
    thread_id,
    ns: '',
    checkpoint_id: 'c1',
    parent_id: null,
    run_id,
    checkpoint: '{"v":4}',
    versions: '{}',
    metadata: '{}',
    blobs: [],
  };
  await checkpoints.put({ attempt: writes }, checkpoint, 'async');
  const found = async () => (await checkpoints.find({ thread_id, ns: '' })).map((each) => each.checkpoint_id);
  return { queue, lease, writes, found, open };
}

describeEachDatabase('a reader of a thread while a run executes on it', (open) => {
  test('finds the checkpoint behind everything that a client may have seen', async () => {
    await using db = await open();
    const { writes, found } = await executing(db);
    expect(await found()).toEqual(['c1']);
    writes[Symbol.dispose]();
  });

  test('gets the current steps of the attempt, and none of other runs and processes', async () => {
    await using db = await open();
    const { lease, writes, open: active } = await executing(db);
    const { thread_id, run_id } = lease;
    writes.observe(() => [{ number: 7 } as CurrentStep]);
    expect(await active.currentSteps(thread_id, run_id)).toEqual({ attempt: 1, steps: [{ number: 7 }] });
    expect(await active.currentSteps(thread_id, randomUUID())).toBeUndefined();
    expect(await new ActiveAttempts().currentSteps(thread_id, run_id)).toBeUndefined();
    writes.observe(async () => undefined);
    expect(await active.currentSteps(thread_id, run_id)).toBeUndefined();
    writes[Symbol.dispose]();
    expect(await active.currentSteps(thread_id, run_id)).toBeUndefined();
  });

  test('finds each step that is no longer current as stored, in another process too', async () => {
    await using db = await open();
    const { lease, writes, open: active } = await executing(db);
    writes.observe(() => []);
    writes.addSteps([modelCall(1, 10)]);
    const now = await active.currentSteps(lease.thread_id, lease.run_id);
    const elsewhere = runStepRepository(db, new ActiveAttempts());
    const stored = await elsewhere.steps(lease, { attempt: 0, number: 0 }, 10);
    expect([now?.steps, stored.map(({ number }) => number)]).toEqual([[], [1]]);
    writes[Symbol.dispose]();
  });

  test('waits while the end of a run is being committed', async () => {
    await using db = await open();
    const { queue, lease, writes, found } = await executing(db);
    const batch = await writes.drain();
    const reading = found();
    await queue.finish(lease, successful({ batch }));
    writes[Symbol.dispose]();
    expect(await reading).toEqual(['c1']);
  });

  test('does not wait for an attempt that lost its lease', async () => {
    await using db = await open();
    const { queue, lease, writes, found } = await executing(db);
    await queue.deleteRun(lease.thread_id, lease.run_id);
    expect(await found()).toEqual([]);
    writes[Symbol.dispose]();
  });
});

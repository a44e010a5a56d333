import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { yieldToEventLoop } from '../../src/core/event-loop.ts';
import type { Db } from '../../src/db/db.ts';
import type { ClaimedRun } from '../../src/storage/queue/claim.ts';
import { WriteBuffer } from '../../src/storage/runs/write-buffer.ts';
import { describeEachDatabase } from '../support/databases.ts';
import { queueStory, WORKER } from '../support/queued-runs.ts';

describeEachDatabase('what an attempt wrote', (open) => {
  test('is committed within a bound while graphs keep the event loop busy, and not at each of its turns', async () => {
    await using db = await open();
    const { writes, committed, first } = await claimedRun(db);
    using _ = writes;

    for (let seq = 1; committed.length === 0 && seq < 1000; seq++) {
      burn(10);
      writes.addFrame({ seq, event: 'values', data: '{}' }, false);
      await yieldToEventLoop();
    }

    // After 200 ms, but never all the time that the graph goes on.
    expect(await first).toBeGreaterThan(100);
    expect(committed[0]).toBeLessThan(500);
    await writes.commit();
  });

  test('waits likewise while many short turns leave the event loop no time', async () => {
    await using db = await open();
    const { writes, committed, first } = await claimedRun(db);
    using _ = writes;
    writes.addFrame({ seq: 1, event: 'values', data: '{}' }, false);

    let next: NodeJS.Immediate | undefined;
    const turn = () => {
      burn(1);
      next = setImmediate(turn);
    };
    turn();
    const waited = await first.finally(() => clearImmediate(next));

    expect(waited).toBeGreaterThan(100);
    expect(committed).toEqual([1]);
  });

  test('waits likewise while the host that executes the graph is busy, and no longer', async () => {
    await using db = await open();
    const { writes, committed, first } = await claimedRun(db);
    using _ = writes;
    writes.executedElsewhere(() => true);

    writes.addFrame({ seq: 1, event: 'values', data: '{}' }, false);

    expect(await first).toBeGreaterThan(100);
    expect(committed).toEqual([1]);
  });
});

/** The write buffer of a run that was claimed, how many frames each of its commits had, and when the first was, ms. */
async function claimedRun(db: Db) {
  const { queue, add } = queueStory(db);
  await add(randomUUID());
  const [claimed] = await queue.claim({ worker_id: WORKER.worker_id, token: randomUUID(), limit: 1 });
  const committed: number[] = [];
  const first = Promise.withResolvers<number>();
  const since = performance.now();
  const writes = new WriteBuffer(db, (claimed as ClaimedRun).lease, {
    onCommitted({ frames }) {
      committed.push(frames.length);
      first.resolve(performance.now() - since);
    },
    onError: first.reject,
  });
  return { writes, committed, first: first.promise };
}

function burn(ms: number): void {
  const end = performance.now() + ms;
  while (performance.now() < end);
}

import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { yieldToEventLoop } from '../../src/core/event-loop.ts';
import type { ClaimedRun } from '../../src/storage/queue/claim.ts';
import { type Batch, WriteBuffer } from '../../src/storage/runs/write-buffer.ts';
import { describeEachStorage } from '../support/databases.ts';
import { queueStory, WORKER } from '../support/queued-runs.ts';

describeEachStorage('what an attempt wrote', (open) => {
  test('is committed within a bound while graphs keep the event loop busy, and not at each of its turns', async () => {
    await using db = await open();
    const { queue, add } = queueStory(db);
    await add(randomUUID());
    const [claimed] = await queue.claim({ worker_id: WORKER.worker_id, token: randomUUID(), limit: 1 });
    const batches: number[] = [];
    const options = {
      onCommitted: ({ frames }: Batch) => batches.push(frames.length),
      onError: () => {},
    };
    using writes = new WriteBuffer(db, (claimed as ClaimedRun).lease, options);

    for (let seq = 1; batches.length === 0 && seq < 1000; seq++) {
      burn(10);
      writes.addFrame({ seq, event: 'values', data: '{}' }, false);
      await yieldToEventLoop();
    }

    // 200 ms of steps of 10 ms, but never all the time that the graph goes on.
    expect(batches[0]).toBeGreaterThan(8);
    expect(batches[0]).toBeLessThan(500);
    await writes.commit();
  });
});

function burn(ms: number): void {
  const end = performance.now() + ms;
  while (performance.now() < end);
}

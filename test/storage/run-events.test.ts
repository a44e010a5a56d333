import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { insertFrames, runEventRepository } from '../../src/storage/runs/events.ts';
import { describeEachStorage } from '../support/databases.ts';

const KILOBYTE = 1024;

describeEachStorage('the event log', (open) => {
  test('is read from any position, as many frames as asked for', async () => {
    await using db = await open();
    const log = await logOf(db, Array(5).fill(1));

    expect(await log.seqsAfter(0, 500)).toEqual([1, 2, 3, 4, 5]);
    expect(await log.seqsAfter(2, 2)).toEqual([3, 4]);
    expect(await log.seqsAfter(5, 500)).toEqual([]);
  });

  test('is read in pieces that fit into memory, however large its frames are', async () => {
    await using db = await open();
    const log = await logOf(
      db,
      [45, 45, 45, 900, 1].map((size) => size * KILOBYTE),
    );

    expect(await log.seqsAfter(0, 500)).toEqual([1, 2, 3]);
    expect(await log.seqsAfter(3, 500)).toEqual([4]);
    expect(await log.seqsAfter(4, 500)).toEqual([5]);
  });
});

async function logOf(db: Parameters<typeof runEventRepository>[0], sizes: readonly number[]) {
  const run_id = randomUUID();
  const frames = sizes.map((size, index) => ({ seq: index + 1, event: 'custom', data: 'x'.repeat(size) }));
  await db.transaction('async', (tx) => insertFrames(tx, run_id, frames));
  const log = runEventRepository(db);
  return {
    async seqsAfter(seq: number, limit: number): Promise<number[]> {
      return (await log.readAfter(run_id, seq, limit)).map((frame) => frame.seq);
    },
  };
}

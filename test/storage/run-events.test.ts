import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { insertFrames, runEventRepository, setLogExpiry } from '../../src/storage/runs/events.ts';
import { SLICE_BYTES } from '../../src/storage/search/byte-slices.ts';
import { describeEachStorage } from '../support/databases.ts';
import { watchedDb } from '../support/watched-db.ts';

const KILOBYTE = 1024;

describeEachStorage('the event log', (open) => {
  test('is read from any position, up to a number of frames', async () => {
    await using db = await open();
    const log = await logOf(db, Array(5).fill(1));

    expect(await log.seqsAfter(0, 500)).toEqual([1, 2, 3, 4, 5]);
    expect(await log.seqsAfter(2, 2)).toEqual([3, 4]);
    expect(await log.seqsAfter(5, 500)).toEqual([]);
  });

  test('is read in chunks that fit into memory, even with large frames', async () => {
    await using db = await open();
    const log = await logOf(
      db,
      [45, 45, 45, 900, 1].map((size) => size * KILOBYTE),
    );

    expect(await log.seqsAfter(0, 500)).toEqual([1, 2, 3]);
    expect(await log.seqsAfter(3, 500)).toEqual([4]);
    expect(await log.seqsAfter(4, 500)).toEqual([5]);
  });

  test('reports whether a page was the last one', async () => {
    await using db = await open();
    const log = await logOf(db, [1, 1, 100 * KILOBYTE, 40 * KILOBYTE, 1], 'é');

    const pages = [];
    for (let seq = 0, isLast = false; !isLast; ) {
      const page = await log.log.readAfter(log.run_id, seq, 2);
      pages.push([page.frames.map((frame) => frame.seq), page.isLast]);
      ({ isLast } = page);
      seq = page.frames.at(-1)?.seq ?? seq;
    }
    expect(pages).toEqual([
      [[1, 2], false],
      [[3], false],
      [[4, 5], false],
      [[], true],
    ]);
    expect(await log.log.readAfter(log.run_id, 3, 500)).toMatchObject({ isLast: true });
    expect(await log.log.readAfter(log.run_id, 2, 500)).toMatchObject({ isLast: false });
  });

  test('of a run with many events expires in batches and never has a gap', async () => {
    await using db = await open();
    const log = await logOf(db, Array(2500).fill(1));
    const other = await logOf(db, [1]);
    for (const { run_id } of [log, other])
      await db.transaction('async', async (tx) =>
        setLogExpiry(tx, run_id, run_id === log.run_id ? -1 : 60_000),
      );

    const { deleteExpired } = runEventRepository(db);
    expect(await deleteExpired(1000)).toBe(1000);
    expect(await log.seqsAfter(0, 500)).toEqual(Array.from({ length: 500 }, (_, index) => index + 1));
    expect(await log.seqsAfter(1400, 500)).toHaveLength(100);
    expect(await deleteExpired(1000)).toBe(1000);
    expect(await log.seqsAfter(0, 1000)).toHaveLength(500);
    // The last events, and the expiry.
    expect(await deleteExpired(1000)).toBe(501);
    expect(await deleteExpired(1000)).toBe(0);
    expect(await log.seqsAfter(0, 500)).toEqual([]);
    expect(await other.seqsAfter(0, 500)).toEqual([1]);
  });

  test('expires in slices by bytes on SQLite', async () => {
    await using db = await open();
    // Two fit into a slice, also encrypted.
    const { run_id } = await logOf(db, Array(6).fill(0.35 * SLICE_BYTES));
    await db.transaction('async', async (tx) => setLogExpiry(tx, run_id, -1));
    const { watched, writes } = watchedDb(db);
    expect(await runEventRepository(watched).deleteExpired(1000)).toBe(7);
    const slices = writes.filter((text) => text.startsWith('delete from run_events'));
    expect(slices).toHaveLength(db.dialect === 'sqlite' ? 3 : 1);
  });

  test('is deleted once, even by concurrent processes', async () => {
    await using db = await open();
    const logs = [await logOf(db, Array(700).fill(1)), await logOf(db, Array(700).fill(1))];
    for (const { run_id } of logs) await db.transaction('async', async (tx) => setLogExpiry(tx, run_id, -1));

    const { deleteExpired } = runEventRepository(db);
    const deleteAll = async () => {
      let rows = 0;
      for (let deleted = 1; deleted > 0; rows += deleted) deleted = await deleteExpired(300);
      return rows;
    };
    const [one, two, three] = await Promise.all([deleteAll(), deleteAll(), deleteAll()]);
    expect((one ?? 0) + (two ?? 0) + (three ?? 0)).toBe(1402);
    expect(await deleteAll()).toBe(0);
  });
});

async function logOf(
  db: Parameters<typeof runEventRepository>[0],
  sizes: readonly number[],
  character = 'x',
) {
  const run_id = randomUUID();
  const frames = sizes.map((size, index) => ({
    seq: index + 1,
    event: 'custom',
    data: character.repeat(size),
  }));
  await db.transaction('async', (tx) => insertFrames(tx, run_id, frames));
  const log = runEventRepository(db);
  return {
    log,
    run_id,
    async seqsAfter(seq: number, limit: number): Promise<number[]> {
      return (await log.readAfter(run_id, seq, limit)).frames.map((frame) => frame.seq);
    },
  };
}

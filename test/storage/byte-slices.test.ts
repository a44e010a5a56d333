import { expect, test } from 'vitest';
import type { Db } from '../../src/db/db.ts';
import { AssistantSearch } from '../../src/schemas/assistants.ts';
import { ThreadSearch } from '../../src/schemas/threads.ts';
import { assistantRepository } from '../../src/storage/assistants/assistants.ts';
import { runSearchRepository } from '../../src/storage/runs/search.ts';
import { SLICE_BYTES, slicesOf } from '../../src/storage/search/byte-slices.ts';
import { threadRepository } from '../../src/storage/threads/threads.ts';
import { describeEachDatabase } from '../support/databases.ts';
import { newRun, queueStory, request } from '../support/queued-runs.ts';
import { at, freshThread, newState, threadId } from '../support/stored-threads.ts';
import { watchedDb } from '../support/watched-db.ts';

const ROWS = 20;
/** Metadata that fits eight times into a slice, and is as large as a client may send it. */
const METADATA = { kind: { is: 'large' }, title: 'A chat', text: 'x'.repeat(SLICE_BYTES / 8 - 1000) };
/** Only the state has it in full. */
const NOTE = 'note '.repeat(50);
const SLICES = Math.ceil(ROWS / 8);
const NUMBERS = Array.from({ length: ROWS }, (_, n) => n);
const IDS = NUMBERS.map(threadId);

test('rows are grouped into slices by bytes, in order, and a large one is its own slice', () => {
  const rows = [3, 4, 3, 11, 1, 9, 1].map((bytes, n) => ({ n, bytes }));
  expect(slicesOf(rows, 10).map((slice) => slice.map(({ n }) => n))).toEqual([[0, 1, 2], [3], [4, 5], [6]]);
  expect(slicesOf([], 10)).toEqual([]);
});

async function insertThreads(db: Db): Promise<void> {
  const threads = threadRepository(db);
  for (const n of NUMBERS) {
    await threads.insert(freshThread(n, { metadata: METADATA }));
    await threads.setState(threadId(n), newState({ text: METADATA.text, note: NOTE }), at(n));
  }
}

/** What an act returns, and in how many statements it looked through some of the rows. */
async function read<T>(reads: string[], act: () => Promise<T>): Promise<[T, number]> {
  reads.length = 0;
  const result = await act();
  const sliced = reads.filter((text) => /\w+_id in \(select value from json_each/.test(text));
  return [result, sliced.filter((text) => /order by|count\(\*\)/.test(text)).length];
}

describeEachDatabase('large rows are searched in slices by bytes on SQLite:', (open) => {
  const all = { sort_order: 'asc', sort_by: 'created_at', limit: 1000 } as const;

  test.each([
    ['metadata', { metadata: { kind: { is: 'large' } } }],
    ['the title', { title: 'chat' }],
    ['values', { values: { note: NOTE } }],
  ])('threads by %s', async (_, filter) => {
    await using db = await open();
    await insertThreads(db);
    const { watched, reads } = watchedDb(db);
    const threads = threadRepository(watched);
    const slices = db.dialect === 'sqlite' ? SLICES : 0;
    const query = ThreadSearch.parse({ ...filter, ...all, select: ['thread_id'] });
    const [found, searching] = await read(reads, () => threads.search(query));
    expect(found.map(({ thread_id }) => thread_id)).toEqual(IDS);
    expect(searching).toBeGreaterThanOrEqual(slices);
    const [counted, counting] = await read(reads, () => threads.count(filter));
    expect([counted, counting]).toEqual([ROWS, slices]);
    // The first slice has all of this page.
    const [page, reading] = await read(reads, () => threads.search({ ...query, limit: 2, offset: 3 }));
    expect(page.map(({ thread_id }) => thread_id)).toEqual(IDS.slice(3, 5));
    expect(reading).toBe(db.dialect === 'sqlite' ? 1 : 0);
  });

  test('assistants by metadata', async () => {
    await using db = await open();
    for (const n of NUMBERS) {
      const fields = { graph_id: 'echo', name: 'a', description: null, config: {}, context: {}, version: 1 };
      const times = { created_at: at(n), updated_at: at(n) };
      await assistantRepository(db).insert({
        assistant_id: threadId(n),
        metadata: METADATA,
        ...fields,
        ...times,
      });
    }
    const { watched, reads } = watchedDb(db);
    const assistants = assistantRepository(watched);
    const filter = { metadata: { kind: { is: 'large' } } };
    const [found] = await read(reads, () => assistants.search(AssistantSearch.parse({ ...filter, ...all })));
    expect(found.map(({ assistant_id }) => assistant_id)).toEqual(IDS);
    const [counted, counting] = await read(reads, () => assistants.count(filter));
    expect([counted, counting]).toEqual([ROWS, db.dialect === 'sqlite' ? SLICES : 0]);
  });

  test.each([
    ['their metadata', { metadata: { kind: { is: 'large' } } }],
    ['the metadata of their threads', { thread_metadata: { kind: { is: 'large' } } }],
  ])('runs by %s', async (_, filter) => {
    await using db = await open();
    await insertThreads(db);
    const { queue } = queueStory(db);
    for (const id of IDS) await queue.enqueue(request({ ...newRun(id), metadata: METADATA }));
    const { watched, reads } = watchedDb(db);
    const runs = runSearchRepository(watched);
    const [{ found }, searching] = await read(reads, () => runs.search({ ...filter, limit: 1000 }));
    expect(found.map(({ thread_id }) => thread_id).sort()).toEqual(IDS);
    const slices = db.dialect === 'sqlite' ? SLICES : 0;
    expect(searching).toBeGreaterThanOrEqual(slices);
    const [counted, counting] = await read(reads, () => runs.count(filter));
    expect([counted, counting]).toEqual([ROWS, slices]);
  });
});

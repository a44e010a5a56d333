import { expect, test } from 'vitest';
import type { Db } from '../../src/db/db.ts';
import { AssistantSearch } from '../../src/schemas/assistants.ts';
import { CronSearch } from '../../src/schemas/crons.ts';
import { ThreadSearch } from '../../src/schemas/threads.ts';
import { assistantRepository } from '../../src/storage/assistants/assistants.ts';
import { cronRepository } from '../../src/storage/crons/crons.ts';
import { runRepository } from '../../src/storage/runs/runs.ts';
import { runSearchRepository } from '../../src/storage/runs/search.ts';
import { SLICE_BYTES, slicesOf } from '../../src/storage/search/byte-slices.ts';
import { storeItemRepository } from '../../src/storage/store/items.ts';
import { threadRepository } from '../../src/storage/threads/threads.ts';
import { describeEachDatabase } from '../support/databases.ts';
import { newRun, queueStory, request } from '../support/queued-runs.ts';
import { storeOver } from '../support/store.ts';
import { storedCron } from '../support/stored-crons.ts';
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

  test('crons by metadata', async () => {
    await using db = await open();
    for (const n of NUMBERS)
      await cronRepository(db).insert(storedCron({ metadata: METADATA, created_at: at(n) }));
    const { watched, reads } = watchedDb(db);
    const crons = cronRepository(watched);
    const filter = { metadata: { kind: { is: 'large' } } };
    const slices = db.dialect === 'sqlite' ? SLICES : 0;
    const [found, searching] = await read(reads, () => crons.search(CronSearch.parse({ ...filter, ...all })));
    expect([found.length, searching]).toEqual([ROWS, slices]);
    expect(found.map(({ created_at }) => created_at)).toEqual(NUMBERS.map(at));
    const [counted, counting] = await read(reads, () => crons.count(filter));
    expect([counted, counting]).toEqual([ROWS, slices]);
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

/** Rows that need three slices, however they are divided. */
const LARGE_LISTS: Record<string, (db: Db) => Promise<(db: Db) => Promise<unknown[]>>> = {
  async threads(db) {
    await insertThreads(db);
    return (read) => threadRepository(read).search(ThreadSearch.parse({ limit: 1000 }));
  },
  async crons(db) {
    for (const _ of NUMBERS) await cronRepository(db).insert(storedCron({ metadata: METADATA }));
    return (read) => cronRepository(read).search(CronSearch.parse({ limit: 1000 }));
  },
  async 'runs of a thread'(db) {
    const { queue } = queueStory(db);
    for (const _ of NUMBERS) await queue.enqueue(request({ ...newRun(threadId(1)), metadata: METADATA }));
    return (read) => runRepository(read).list(threadId(1), { limit: 1000, offset: 0 });
  },
  async 'items of the store'(db) {
    const items = NUMBERS.map((n) => ({ namespace: ['notes'], key: `${n}`, value: METADATA }));
    await storeOver(db).apply(items);
    const all = { namespace_prefix: [], conditions: [], offset: 0, limit: 1000 };
    return (read) => storeItemRepository(read).search(all, undefined, false);
  },
};

describeEachDatabase('a list of large rows is read in slices by bytes:', (open) => {
  test.for(Object.entries(LARGE_LISTS))('%s', async ([_, fill]) => {
    await using db = await open();
    const list = await fill(db);
    const { watched, reads } = watchedDb(db);
    expect(await list(watched)).toHaveLength(ROWS);
    const whole = reads.filter(
      (text) => /metadata|value/.test(text) && / in \(select value| = any /.test(text),
    );
    // The first one finds out that they are too large for one statement, the second one how large each of them is.
    expect(whole.length).toBeGreaterThanOrEqual(2 + SLICES);
  });
});

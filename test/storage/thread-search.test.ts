import { expect, test } from 'vitest';
import { sql } from '../../src/db/sql.ts';
import { NOW } from '../../src/db/time.ts';
import { ThreadSearch } from '../../src/schemas/threads.ts';
import type { SortKey } from '../../src/storage/search/access-path.ts';
import { type ThreadRepository, threadRepository } from '../../src/storage/threads/threads.ts';
import { describeEachStorage } from '../support/databases.ts';
import { queueStory } from '../support/queued-runs.ts';
import { at, foundThreads, freshThread, newState, threadId } from '../support/stored-threads.ts';

async function insertAll(threads: ThreadRepository, metadata: Record<string, unknown>[]): Promise<void> {
  for (const [n, each] of metadata.entries()) await threads.insert(freshThread(n, { metadata: each }));
}

describeEachStorage('searching threads', (open) => {
  test('finds by metadata', async () => {
    await using db = await open();
    const threads = threadRepository(db);
    await insertAll(threads, [
      { user: 'a', tags: ['x', 'y'] },
      { user: 'b', deep: { n: 1 } },
      { user: null },
    ]);
    expect(await foundThreads(threads, { metadata: { user: 'a' } })).toEqual([0]);
    expect(await foundThreads(threads, { metadata: { tags: ['y'] } })).toEqual([0]);
    expect(await foundThreads(threads, { metadata: { deep: { n: 1.0 } } })).toEqual([1]);
    expect(await foundThreads(threads, { metadata: { user: null } })).toEqual([2]);
    expect(await foundThreads(threads, { metadata: {} })).toEqual([2, 1, 0]);
    expect(await threads.count({ metadata: { user: 'b' } })).toBe(1);
  });

  test('finds by words of the title and parts of them, with other conditions', async () => {
    await using db = await open();
    const threads = threadRepository(db);
    await insertAll(threads, [
      { title: 'Invoice for March', user: 'a' },
      { title: 'A march through 50 % of_it' },
      { title: 2026 },
      { name: 'March' },
      { title: { of: 'March' }, user: 'a' },
      {},
    ]);
    expect(await foundThreads(threads, { title: 'march' })).toEqual([4, 1, 0]);
    expect(await foundThreads(threads, { title: '  MAR voice ' })).toEqual([0]);
    expect(await foundThreads(threads, { title: 'march', metadata: { user: 'a' } })).toEqual([4, 0]);
    expect(await foundThreads(threads, { title: '50 %' })).toEqual([1]);
    expect(await foundThreads(threads, { title: 'f_i' })).toEqual([1]);
    expect(await foundThreads(threads, { title: '_' })).toEqual([1]);
    expect(await foundThreads(threads, { title: '026' })).toEqual([2]);
    expect(await foundThreads(threads, { title: "'; drop" })).toEqual([]);
    expect(await foundThreads(threads, { title: ' ' })).toEqual([5, 4, 3, 2, 1, 0]);
    expect(await threads.count({ title: 'march' })).toBe(3);
    expect(await threads.count({ title: 'march', status: 'idle' })).toBe(3);
    expect(await threads.count({ title: 'none', status: 'idle' })).toBe(0);
  });

  test('searches the first thousand characters of a title', async () => {
    await using db = await open();
    const threads = threadRepository(db);
    await insertAll(threads, [{ title: `${'a'.repeat(996)} bee` }, { title: `${'a'.repeat(998)} bee` }]);
    expect(await foundThreads(threads, { title: 'bee' })).toEqual([0]);
    expect(await threads.count({ title: 'aaa' })).toBe(2);
  });

  test('finds by values, and threads without values if the filter is empty', async () => {
    await using db = await open();
    const threads = threadRepository(db);
    await insertAll(threads, [{}, {}, {}]);
    await threads.setState(threadId(0), newState({ topic: 'fish', log: [1, 2] }), at(1));
    await threads.setState(threadId(1), newState(['not an object']), at(2));
    expect(await foundThreads(threads, { values: { topic: 'fish', log: [2] } })).toEqual([0]);
    expect(await foundThreads(threads, { values: { topic: 'meat' } })).toEqual([]);
    expect(await foundThreads(threads, { values: {} })).toEqual([2, 1, 0]);
    expect(await threads.count({ values: { topic: 'fish' } })).toBe(1);
    expect(await threads.count({})).toBe(3);
  });

  test('finds by status, busy ones by their runs', async () => {
    await using db = await open();
    const threads = threadRepository(db);
    await insertAll(threads, [{}, {}, {}]);
    await threads.setState(threadId(1), { ...newState({}), status: 'interrupted' }, at(5));
    await queueStory(db).add(threadId(0));
    expect(await foundThreads(threads, { status: 'busy' })).toEqual([0]);
    expect(await foundThreads(threads, { status: 'interrupted' })).toEqual([1]);
    expect(await foundThreads(threads, { status: 'idle' })).toEqual([2]);
    expect(await foundThreads(threads, { status: 'error' })).toEqual([]);
    expect(await threads.count({ status: 'busy' })).toBe(1);
    expect(await foundThreads(threads, { sort_by: 'status', sort_order: 'asc' })).toEqual([0, 2, 1]);
  });

  test('finds by ids, and an empty list finds nothing', async () => {
    await using db = await open();
    const threads = threadRepository(db);
    await insertAll(threads, [{}, {}, {}]);
    expect(await foundThreads(threads, { ids: [threadId(2), threadId(0), threadId(9)] })).toEqual([2, 0]);
    expect(await foundThreads(threads, { ids: [] })).toEqual([2, 1, 0]);
  });

  test('sorts by the requested field, newest first by default, and pages without gaps', async () => {
    await using db = await open();
    const threads = threadRepository(db);
    await insertAll(threads, [{}, {}, {}, {}]);
    await threads.update(threadId(1), {}, at(50));
    await threads.setState(threadId(0), newState({}), at(40));
    expect(await foundThreads(threads, {})).toEqual([1, 0, 3, 2]);
    expect(await foundThreads(threads, { sort_by: 'created_at', sort_order: 'asc' })).toEqual([0, 1, 2, 3]);
    expect(await foundThreads(threads, { sort_by: 'state_updated_at' })).toEqual([0, 3, 2, 1]);
    expect(await foundThreads(threads, { sort_by: 'thread_id', sort_order: 'asc' })).toEqual([0, 1, 2, 3]);
    expect(await foundThreads(threads, { limit: 2, offset: 1 })).toEqual([0, 3]);
    expect(await foundThreads(threads, { offset: 50 })).toEqual([]);
  });

  test.each([
    { sort_by: 'updated_at', sort_order: 'desc' },
    { sort_by: 'state_updated_at', sort_order: 'asc' },
    { sort_by: 'thread_id', sort_order: 'desc' },
  ] as const)('returns each thread once in pages by key: $sort_by $sort_order', async (order) => {
    await using db = await open();
    const threads = threadRepository(db);
    for (let n = 0; n < 12; n++) {
      const metadata = { part: n % 3 === 0 ? 'third' : 'other' };
      await threads.insert({
        ...freshThread(n, { metadata }),
        updated_at: at(n >> 2),
        state_updated_at: at(n >> 2),
      });
    }
    // As the server writes it when a process died: PostgreSQL then has microseconds.
    await db.run(sql`update threads set updated_at = ${NOW} where thread_id = ${threadId(5)}`);
    for (const filter of [
      {},
      { metadata: { part: 'other' } },
      { status: 'idle', metadata: { part: 'other' } },
    ]) {
      const whole = ThreadSearch.parse({ ...order, ...filter, limit: 100 });
      const found: string[] = [];
      for (let after: SortKey | undefined; ; ) {
        const page = await threads.search({ ...whole, limit: 3, has_keys: true, after });
        found.push(...page.map(({ thread_id }) => thread_id));
        after = page.at(-1)?.key;
        if (page.length < 3) break;
      }
      expect(found).toEqual((await threads.search(whole)).map(({ thread_id }) => thread_id));
      expect(found).toHaveLength('metadata' in filter ? 8 : 12);
    }
  });

  test('returns the size of the history of each thread on request', async () => {
    await using db = await open();
    const threads = threadRepository(db);
    await insertAll(threads, [{}, {}]);
    const select: ThreadSearch['select'] = ['thread_id', 'total_bytes'];
    const sized = await threads.search(ThreadSearch.parse({ select }));
    for (const { thread_id, total_bytes } of sized)
      expect(total_bytes).toBe((await threads.size(thread_id)).total_bytes);
    expect(Object.keys((await threads.search(ThreadSearch.parse({})))[0] ?? {})).not.toContain('total_bytes');
  });

  test('orders equal times by id, in the same direction', async () => {
    await using db = await open();
    const threads = threadRepository(db);
    for (const n of [2, 0, 1]) await threads.insert({ ...freshThread(0), thread_id: threadId(n) });
    expect(await foundThreads(threads, {})).toEqual([2, 1, 0]);
    expect(await foundThreads(threads, { sort_order: 'asc', limit: 2 })).toEqual([0, 1]);
  });

  test('reads values only when they are selected', async () => {
    await using db = await open();
    const threads = threadRepository(db);
    await threads.insert(freshThread(1));
    await threads.setState(threadId(1), newState({ n: 1 }), at(2));
    const [whole] = await threads.search(ThreadSearch.parse({}));
    const [bare] = await threads.search(ThreadSearch.parse({ select: ['thread_id', 'metadata'] }));
    const [picked] = await threads.search(ThreadSearch.parse({ select: ['values'] }));
    expect(whole?.values).toEqual({ n: 1 });
    expect(bare).not.toHaveProperty('values');
    expect(picked?.values).toEqual({ n: 1 });
  });
});

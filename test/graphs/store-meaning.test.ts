import { expect, test } from 'vitest';
import { ProjectFailure } from '../../src/core/errors.ts';
import { raw, sql } from '../../src/db/sql.ts';
import type { LongTermStore } from '../../src/graphs/store/long-term-store.ts';
import { bagOfWords } from '../support/bag-of-words.ts';
import { describeEachDatabase, describePgvector, type OpenDatabase } from '../support/databases.ts';
import { indexedStoreOver, storeOver } from '../support/store.ts';

const namespace = ['m'];

async function found(store: LongTermStore, query: string, options: object = {}) {
  return store.search({ namespace_prefix: [], limit: 10, offset: 0, ...options, query });
}

async function keys(store: LongTermStore, query: string, options: object = {}): Promise<string[]> {
  return (await found(store, query, options)).map(({ key }) => key);
}

describeEachDatabase('a store search by meaning', searchesByMeaning);
describePgvector('a store search by meaning', searchesByMeaning);

function searchesByMeaning(open: OpenDatabase): void {
  test('orders items by the cosine of their best vector', async () => {
    await using db = await open();
    const store = await indexedStoreOver(db, { rules: { fields: ['text'] } });
    await store.apply([
      { namespace, key: 'same', value: { text: 'green tea' } },
      { namespace, key: 'half', value: { text: 'green house' } },
      { namespace, key: 'none', value: { text: 'dogs bark' } },
      { namespace, key: 'empty', value: { text: ' ' } },
      { namespace, key: 'other', value: { title: 'green tea' } },
    ]);
    const items = await found(store, 'Tea green');
    expect(items.map(({ key }) => key)).toEqual(['same', 'half', 'none']);
    expect(items[0]?.score).toBeCloseTo(1, 5);
    expect(items[1]?.score).toBeCloseTo(0.5, 5);
    expect(items[2]?.score).toBeCloseTo(0, 5);
    expect(await keys(store, 'green tea', { limit: 1, offset: 1 })).toEqual(['half']);
    // Without words in it there is nothing to be like; nobody asked anything with an empty query.
    expect((await found(store, '...')).map(({ score }) => score)).toEqual([0, 0, 0]);
    expect((await found(store, '')).map(({ score }) => score)).toEqual([null, null, null, null, null]);
  });

  test('compares only the indexed fields of an item, each path separately', async () => {
    await using db = await open();
    const store = await indexedStoreOver(db);
    const value = { title: 'apple', parts: [{ text: 'plum cake' }, { text: 'fig' }] };
    await store.apply([
      { namespace, key: 'hidden', value, index: false },
      { namespace, key: 'parts', value, index: ['parts[*].text'] },
      { namespace, key: 'all', value },
    ]);
    expect(await keys(store, 'fig')).toEqual(['parts', 'all']);
    expect((await found(store, 'fig'))[0]?.score).toBeCloseTo(1, 5);
    await store.apply([{ namespace, key: 'parts', value, index: false }]);
    expect(await keys(store, 'fig')).toEqual(['all']);
    await store.apply([{ namespace, key: 'all', value: null }]);
    expect(await keys(store, 'fig')).toEqual([]);
  });

  test('stores vectors in the form that the database compares', async () => {
    await using db = await open();
    await (await indexedStoreOver(db)).apply([{ namespace, key: 'k', value: { text: 'x' } }]);
    // Several servers may start at once.
    await Promise.all([indexedStoreOver(db), indexedStoreOver(db)]);
    const pgvector = await db
      .get(sql`select 1 from pg_available_extensions where name = 'vector'`)
      .catch(() => undefined);
    const column = raw(pgvector ? 'embedding' : 'vector');
    expect(await db.all(sql`select 1 as one from store_vectors where ${column} is not null`)).toHaveLength(1);
  });

  test('limits the page after it has applied namespace, filter and expiry', async () => {
    await using db = await open();
    const store = await indexedStoreOver(db, { rules: { fields: ['text'] } });
    const crowd = Array.from({ length: 300 }, (_, n) => ({
      namespace: ['crowd', `${n % 7}`],
      key: `${n}`,
      value: { text: 'green tea', n },
    }));
    await store.apply(crowd);
    await store.apply([
      { namespace: ['mine'], key: 'far', value: { text: 'green grass and tea', n: 1 } },
      { namespace: ['mine', 'b'], key: 'farther', value: { text: 'tea and many other things', n: 2 } },
      { namespace: ['mine'], key: 'gone', value: { text: 'green tea', n: 3 }, ttl: -1 },
    ]);
    expect(await keys(store, 'green tea', { namespace_prefix: ['mine'], limit: 2 })).toEqual([
      'far',
      'farther',
    ]);
    expect(await keys(store, 'green tea', { filter: { n: { $eq: 2 } }, limit: 2 })).toEqual(['2', 'farther']);
    expect(await keys(store, 'green tea', { limit: 1000 })).toHaveLength(302);
  });

  test('embeds before it writes, and writes nothing if that fails', async () => {
    await using db = await open();
    let fails = false;
    const store = await indexedStoreOver(db, {
      embed: async (texts) => {
        if (fails) throw new Error('secret key refused');
        return bagOfWords(64)(texts);
      },
    });
    const old = { namespace, key: 'k', value: { text: 'old' } };
    await store.apply([old]);
    fails = true;
    const change = store.apply([{ ...old, value: { text: 'new' } }]);
    await expect(change).rejects.toThrow(ProjectFailure);
    await expect(change).rejects.not.toThrow('secret');
    await expect(store.search({ namespace_prefix: [], limit: 1, offset: 0, query: 'x' })).rejects.toThrow(
      ProjectFailure,
    );
    expect((await store.get(old))?.value).toEqual({ text: 'old' });
    // What needs no vector goes on.
    await store.apply([{ ...old, index: false }]);
    await store.apply([{ ...old, value: null }]);
    expect(await store.get(old)).toBeUndefined();
  });

  test.each<[why: string, vectors: unknown]>([
    ['of another length', [[1, 2]]],
    ['that are not numbers', [Array(64).fill('1')]],
    ['that are not finite', [Array(64).fill(Number.NaN)]],
    ['too few', []],
    ['that are none', undefined],
  ])('refuses vectors %s', async (_why, vectors) => {
    await using db = await open();
    const store = await indexedStoreOver(db, { embed: async () => vectors as number[][] });
    const item = { namespace, key: 'k', value: { text: 'x' } };
    await expect(store.apply([item])).rejects.toThrow(/The embeddings of the store/);
    expect(await store.get(item)).toBeUndefined();
  });

  test('finds older items once they are indexed, and again after the index has changed', async () => {
    await using db = await open();
    const item = (key: string, text: string) => ({ namespace, key, value: { text } });
    await storeOver(db).apply([item('old', 'green tea'), { ...item('hidden', 'green tea'), index: false }]);
    const first = await indexedStoreOver(db);
    await first.apply([item('new', 'green tea')]);
    expect(await keys(first, 'green tea')).toEqual(['new']);
    expect(await first.indexBatch(10)).toBe(2);
    expect((await keys(first, 'green tea')).sort()).toEqual(['new', 'old']);
    expect(await first.indexBatch(10)).toBe(0);

    const second = await indexedStoreOver(db, { rules: { dims: 32 } });
    expect(await keys(second, 'green tea')).toEqual([]);
    expect([await second.indexBatch(2), await second.indexBatch(2), await second.indexBatch(2)]).toEqual([
      2, 1, 0,
    ]);
    expect((await keys(second, 'green tea')).sort()).toEqual(['new', 'old']);
    await storeOver(db).apply([item('old', 'coffee')]);
    expect(await keys(second, 'green tea')).toEqual(['new']);
  });

  test('indexes other items although one cannot be embedded', async () => {
    await using db = await open();
    await storeOver(db).apply(
      ['good', 'too long', 'fine'].map((text, n) => ({ namespace, key: `${n}`, value: { text } })),
    );
    const store = await indexedStoreOver(db, {
      embed: async (texts) => {
        if (texts.some((text) => text.includes('too long'))) throw new Error('too many tokens');
        return bagOfWords(64)(texts);
      },
    });
    expect(await store.indexBatch(10)).toBe(3);
    expect(await store.indexBatch(10)).toBe(0);
    expect((await keys(store, 'good')).sort()).toEqual(['0', '2']);
  });
}

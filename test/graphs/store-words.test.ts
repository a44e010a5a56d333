import { expect, test } from 'vitest';
import type { LongTermStore } from '../../src/graphs/store/long-term-store.ts';
import { describeEachStorage } from '../support/databases.ts';
import { storeOver } from '../support/store.ts';

async function keys(store: LongTermStore, query: string, options: object = {}): Promise<string[]> {
  const found = await store.search({ namespace_prefix: [], limit: 100, offset: 0, ...options, query });
  for (const { score } of found) expect(score === null || (score > 0 && score < 1)).toBe(true);
  return found.map(({ key }) => key);
}

async function remember(store: LongTermStore, texts: Record<string, unknown>, namespace = ['m']) {
  for (const [key, text] of Object.entries(texts)) {
    await store.apply([{ namespace, key, value: { text } }]);
  }
}

describeEachStorage('a store search by words', (open) => {
  test('finds items with any word of the query, those with more words first', async () => {
    await using db = await open();
    const store = storeOver(db);
    await remember(store, {
      tea: 'Ada likes green tea in the morning',
      coffee: 'Grace likes coffee',
      cats: { about: ['cats', { names: ['Tea', 'Ümlaut'] }], count: 1984 },
      nothing: '',
    });
    expect(await keys(store, 'green tea')).toEqual(['tea', 'cats']);
    expect((await keys(store, 'who likes coffee?'))[0]).toBe('coffee');
    expect(await keys(store, 'UMLAUT')).toEqual(['cats']);
    expect(await keys(store, '1984')).toEqual(['cats']);
    // Names of fields are not what an item says.
    expect(await keys(store, 'about')).toEqual([]);
    expect(await keys(store, 'te')).toEqual([]);
  });

  test('scores an item by how rare its words are among the items found', async () => {
    await using db = await open();
    const store = storeOver(db);
    await remember(store, { both: 'green tea', one: 'black tea', none: 'coffee' });
    const found = await store.search({ namespace_prefix: [], limit: 10, offset: 0, query: 'green tea' });
    expect(found.map(({ key, score }) => [key, score?.toFixed(3)])).toEqual([
      // ln(1 + 2/1) + ln(1 + 2/2), then ln(1 + 2/2), each as x / (1 + x).
      ['both', '0.642'],
      ['one', '0.409'],
    ]);
  });

  test('matches quoted words as a phrase and excludes words with a minus', async () => {
    await using db = await open();
    const store = storeOver(db);
    await remember(store, {
      one: 'the red house',
      two: 'the house is red',
      mail: 'write to ada.lovelace@example.com',
      han: '東京都に住んでいます',
    });
    expect(await keys(store, '"red house"')).toEqual(['one']);
    expect((await keys(store, 'red house')).sort()).toEqual(['one', 'two']);
    expect(await keys(store, 'house -"red house"')).toEqual(['two']);
    expect(await keys(store, 'ada.lovelace@example.com')).toEqual(['mail']);
    expect(await keys(store, 'lovelace@')).toEqual(['mail']);
    expect(await keys(store, '東京')).toEqual(['han']);
    expect(await keys(store, '京東')).toEqual([]);
  });

  test('searches only the indexed fields of an item', async () => {
    await using db = await open();
    const store = storeOver(db);
    const value = { title: 'apple', body: 'pear', parts: [{ text: 'plum' }, { text: 'fig' }] };
    await store.apply([
      { namespace: ['m'], key: 'hidden', value, index: false },
      { namespace: ['m'], key: 'title', value, index: ['title'] },
      { namespace: ['m'], key: 'parts', value, index: ['parts[*].text', 'nowhere'] },
      { namespace: ['m'], key: 'all', value },
    ]);
    expect((await keys(store, 'apple')).sort()).toEqual(['all', 'title']);
    expect((await keys(store, 'fig')).sort()).toEqual(['all', 'parts']);
    expect(await keys(store, 'pear')).toEqual(['all']);
    await store.apply([{ namespace: ['m'], key: 'all', value: { title: 'other' } }]);
    expect(await keys(store, 'pear')).toEqual([]);
    await store.apply([{ namespace: ['m'], key: 'all', value: null }]);
    expect(await keys(store, 'other')).toEqual([]);
  });

  test('searches below the namespace, applies the filter, and returns pages', async () => {
    await using db = await open();
    const store = storeOver(db);
    const deep = Array.from({ length: 12 }, (_, level) => `l${level}`);
    for (const [n, namespace] of [['a'], ['a', 'b'], ['ab'], deep].entries()) {
      await store.apply([{ namespace, key: `${n}`, value: { text: 'tea', n } }]);
    }
    const below = (namespace_prefix: string[], options: object = {}) =>
      keys(store, 'tea', { namespace_prefix, ...options }).then((found) => found.sort());
    expect(await below(['a'])).toEqual(['0', '1']);
    expect(await below(['a', 'b'])).toEqual(['1']);
    expect(await below(deep.slice(0, 10))).toEqual(['3']);
    expect(await below([...deep.slice(0, 9), 'other'])).toEqual([]);
    expect(await below([], { filter: { n: { $gte: 2 } } })).toEqual(['2', '3']);
    const pages = await Promise.all([0, 3].map((offset) => below([], { limit: 3, offset })));
    expect(pages.flat().sort()).toEqual(['0', '1', '2', '3']);
  });

  test.each([
    ['', ['all', 'both']],
    [' \n\t', ['all', 'both']],
    ['?!"', ['all', 'both']],
    ['-nothing', []],
    ['"', ['all', 'both']],
    ["it's \\ \" OR NOT AND ( ) * : ^ ' NEAR(a b) <-> & | ! ; --", ['both']],
    ['words : x', ['both']],
    ['scope:"x" words', ['both']],
    [`${Array.from({ length: 5000 }, (_, n) => n).join(' ')} words`, []],
    ['\0words\ud800', ['both']],
    ['a'.repeat(100_000), []],
    ['"'.repeat(10_001), ['all', 'both']],
  ])('treats a hostile query as words (%#)', async (query, found) => {
    await using db = await open();
    const store = storeOver(db);
    await remember(store, { both: 'words or not', all: 'anything' });
    expect((await keys(store, query)).sort()).toEqual(found);
  });

  test('indexes only as much of a long text as the databases accept', async () => {
    await using db = await open();
    const store = storeOver(db);
    const words = Array.from({ length: 200_000 }, (_, n) => `w${n}`);
    await remember(store, { long: ['first', 'y'.repeat(5000), ...words].join(' ') });
    expect(await keys(store, 'first')).toEqual(['long']);
    expect(await keys(store, 'w199999')).toEqual([]);
  });

  test('does not find expired items', async () => {
    await using db = await open();
    const store = storeOver(db);
    await store.apply([{ namespace: ['m'], key: 'k', value: { text: 'tea' }, ttl: -1 }]);
    expect(await keys(store, 'tea')).toEqual([]);
  });
});

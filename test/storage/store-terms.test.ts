import { expect, test } from 'vitest';
import { plainCipher } from '../../src/db/encryption/cipher.ts';
import { indexedWords } from '../../src/storage/store/full-text.ts';
import { OMITTED, parseWordQuery, withoutRepetition } from '../../src/storage/store/tokenizer.ts';
import { describeEachStorage } from '../support/databases.ts';
import { storeOver } from '../support/store.ts';

test('a query of the store has at most 32 words, and a phrase eight', () => {
  const phrases = Array.from({ length: 31 }, (_, n) => `"${'word '.repeat(n + 1)}"`);
  const { any = [] } = parseWordQuery(phrases.join(' ')) ?? {};
  expect(any.map((words) => words.length)).toEqual([1, 2, 3, 4, 5, 6, 7, 4].slice(0, any.length));
  expect(any.flat()).toHaveLength(28);
  const words = Array.from({ length: 50 }, (_, n) => `w${n}`);
  expect(parseWordQuery(words.join(' '))?.any.flat()).toEqual(words.slice(0, 32));
  expect(parseWordQuery(`"${words.join(' ')}"`)?.any).toEqual([words.slice(0, 8)]);
});

test('a word of a store item is indexed with its first 256 positions', () => {
  const indexed = indexedWords(plainCipher, { text: `${'word '.repeat(300)} end` }, null);
  expect(indexed).toHaveLength(301);
  expect(indexed.filter((word) => word === 'word')).toHaveLength(256);
  expect(indexed.at(-1)).toBe('end');
  expect(withoutRepetition(['a', 'b', 'a'])).toEqual(['a', 'b', 'a']);
  expect(indexed.at(-2)).toBe(OMITTED);
});

describeEachStorage('a query of the store that only excludes', (open) => {
  test('finds nothing, also not what it excludes', async () => {
    await using db = await open();
    const store = storeOver(db);
    for (const text of ['green tea', 'black coffee'])
      await store.apply([{ namespace: ['notes'], key: text, value: { text } }]);
    const found = async (query: string) =>
      (await store.search({ namespace_prefix: [], query, limit: 9, offset: 0 })).map(({ key }) => key).sort();
    expect(await found('-coffee')).toEqual([]);
    expect(await found('-"black coffee" -tea')).toEqual([]);
    expect(await found('green -coffee')).toEqual(['green tea']);
    expect(await found('- ')).toEqual(['black coffee', 'green tea']);
  });
});

describeEachStorage('an item that repeats a word', (open) => {
  test('is found by that word and by later ones, but no phrase spans omitted positions', async () => {
    await using db = await open();
    const store = storeOver(db);
    const value = { text: `${'word '.repeat(300)} tea time` };
    await store.apply([{ namespace: ['notes'], key: 'long', value }]);
    const found = async (query: string) =>
      (await store.search({ namespace_prefix: [], query, limit: 9, offset: 0 })).length;
    expect(await found('word')).toBe(1);
    expect(await found('"word word"')).toBe(1);
    expect(await found('"tea time"')).toBe(1);
    expect(await found('"word tea"')).toBe(0);
    expect(await found('…')).toBe(1);
  });
});

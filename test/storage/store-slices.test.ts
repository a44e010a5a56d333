import { expect, test } from 'vitest';
import type { Db } from '../../src/db/db.ts';
import { SLICE_BYTES } from '../../src/storage/search/byte-slices.ts';
import { describeEachDatabase, describeEncrypted } from '../support/databases.ts';
import { indexedStoreOver, storeOver } from '../support/store.ts';
import { watchedDb } from '../support/watched-db.ts';

const ITEMS = 20;
/** Fits five times into a slice, as ciphertext too. */
const LARGE = 'x '.repeat(SLICE_BYTES / 14);
const namespace = ['notes'];

async function putItems(db: Db): Promise<void> {
  const store = storeOver(db);
  for (let n = 0; n < ITEMS; n++)
    await store.apply([{ namespace, key: `${n}`, value: { n, half: n % 2, text: `tea ${LARGE}` } }]);
}

/** The keys that a search finds, and in how many statements it looked through values. */
async function search(db: Db, query: object) {
  const { watched, reads } = watchedDb(db);
  const found = await storeOver(watched).search({ namespace_prefix: [], limit: 100, offset: 0, ...query });
  const sliced = reads.filter((text) => /from store_items\s+where item_id in \(select value/.test(text));
  // The last statement reads the items of the page.
  return { keys: found.map(({ key }) => key), slices: sliced.length - 1 };
}

const odd = Array.from({ length: ITEMS / 2 }, (_, n) => `${ITEMS - 1 - 2 * n}`);

describeEachDatabase('filters of the store read large values in slices by bytes on SQLite:', (open) => {
  test.each([
    ['in a list of everything', { filter: { half: 1 } }],
    ['in a list of a namespace', { filter: { half: 1 }, namespace_prefix: namespace }],
    ['in a search by words', { filter: { half: 1 }, query: 'tea' }],
    ['with a comparison', { filter: { half: { $gt: 0 } } }],
  ])('%s', async (_, query) => {
    await using db = await open();
    await putItems(db);
    const { keys, slices } = await search(db, query);
    expect(keys).toEqual(odd);
    if (db.dialect === 'sqlite') expect(slices).toBeGreaterThanOrEqual(3);
    const page = await search(db, { ...query, limit: 2, offset: 1 });
    expect(page.keys).toEqual(odd.slice(1, 3));
  });

  test('in a search by meaning', async () => {
    await using db = await open();
    const store = await indexedStoreOver(db);
    for (let n = 0; n < 4; n++)
      await store.apply([{ namespace, key: `${n}`, value: { half: n % 2, text: 'tea' } }]);
    const found = await store.search({
      namespace_prefix: [],
      query: 'tea',
      filter: { half: 1 },
      limit: 9,
      offset: 0,
    });
    expect(found.map(({ key }) => key)).toEqual(['3', '1']);
  });
});

describeEncrypted('comparisons of the store decrypt values in slices by bytes', (open) => {
  test('and find items beyond the first slice', async () => {
    await using db = await open();
    await putItems(db);
    const { keys, slices } = await search(db, { filter: { n: { $lt: 3 }, half: 0 } });
    expect(keys).toEqual(['2', '0']);
    expect(slices).toBeGreaterThanOrEqual(4);
  });
});

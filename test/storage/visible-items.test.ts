import { expect, test } from 'vitest';
import { storeItemRepository } from '../../src/storage/store/items.ts';
import { describeEachDatabase } from '../support/databases.ts';
import { storeOver } from '../support/store.ts';

describeEachDatabase('the visibility of store items', (open) => {
  test('is decided by their namespace, by access rules, and by whether they exist', async () => {
    await using db = await open();
    const store = storeOver(db);
    const put = (namespace: string[], key: string, owner: string) =>
      store.apply([{ namespace, key, value: { owner } }]);
    await put(['team', 'notes'], 'a, "b"', 'jane');
    await put(['team', 'notes'], 'c', 'john');
    await put(['teams'], 'd', 'jane');
    const asked = [
      { namespace: ['team', 'notes'], key: 'a, "b"' },
      { namespace: ['team', 'notes'], key: 'c' },
      { namespace: ['team'], key: 'notes' },
      { namespace: ['teams'], key: 'd' },
    ];
    const visible = async (namespace_prefix: string[], owner?: string) => {
      const visibility = owner === undefined ? undefined : { metadata: { contains: { owner } } };
      const found = await storeItemRepository(db).visible(asked, { namespace_prefix, visibility });
      return found.map(({ key }) => key).toSorted();
    };
    expect(await visible([])).toEqual(['a, "b"', 'c', 'd']);
    expect(await visible([], 'jane')).toEqual(['a, "b"', 'd']);
    expect(await visible(['team'])).toEqual(['a, "b"', 'c']);
    expect(await visible(['team'], 'john')).toEqual(['c']);
  });
});

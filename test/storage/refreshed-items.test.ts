import { expect, test } from 'vitest';
import { sql } from '../../src/db/sql.ts';
import { storeItemRepository } from '../../src/storage/store/items.ts';
import { describePostgresServer } from '../support/databases.ts';

const ALL = { namespace_prefix: ['notes'], conditions: [], limit: 10, offset: 0 };

describePostgresServer('refreshing times to live', (open) => {
  // Two such searches that wait for each other's items would be a deadlock.
  test('a search skips items that another transaction has locked, and refreshes the others', async () => {
    await using db = await open();
    const items = storeItemRepository(db);
    for (const key of ['held', 'free']) {
      await items.apply([{ namespace: ['notes'], key, value: {}, ttl_minutes: 60, index_rule: false }]);
    }
    await db.run(sql`update store_items set expires_at = created_at + interval '10 minutes'`);
    await db.transaction('sync', async (tx) => {
      await tx.run(sql`update store_items set expires_at = expires_at where key = 'held'`);
      expect(await items.search(ALL, undefined, true)).toHaveLength(2);
    });
    const refreshed = await db.all(sql`select key from store_items
      where expires_at > created_at + interval '30 minutes'`);
    expect(refreshed).toEqual([{ key: 'free' }]);
  });
});

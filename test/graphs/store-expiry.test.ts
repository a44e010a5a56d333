import { expect, test } from 'vitest';
import { columns } from '../../src/db/columns.ts';
import type { Db } from '../../src/db/db.ts';
import { sql } from '../../src/db/sql.ts';
import { describeEachDatabase } from '../support/databases.ts';
import { storeOver } from '../support/store.ts';

const namespace = ['a'];
const value = {};

/** Minutes from now until each item goes, by its key. */
async function minutesLeft(db: Db): Promise<Record<string, number | null>> {
  const rows = await db.all(sql`select ${columns('store_items', 'key, expires_at')} from store_items`);
  const minutes = (at: string) => Math.round((Date.parse(at) - Date.now()) / 60_000);
  return Object.fromEntries(
    rows.map(({ key, expires_at }) => [key, expires_at === null ? null : minutes(expires_at)]),
  );
}

describeEachDatabase('the expiry of store items', (open) => {
  test('is that of the item, else the default, and null means no expiry', async () => {
    await using db = await open();
    const store = storeOver(db, { default_ttl: 30 });
    await store.apply([
      { namespace, key: 'own', value, ttl: 5 },
      { namespace, key: 'usual', value },
      { namespace, key: 'stays', value, ttl: null },
    ]);
    expect(await minutesLeft(db)).toEqual({ own: 5, usual: 30, stays: null });
  });

  test('restarts when the item is read, if the read or the configuration says so', async () => {
    await using db = await open();
    const store = storeOver(db);
    const lazy = storeOver(db, { refresh_on_read: false });
    const soon = async () => {
      await store.apply([
        { namespace, key: 'k', value, ttl: 60 },
        { namespace, key: 'stays', value },
      ]);
      await db.run(sql`update store_items set expires_at = ${new Date(Date.now() + 60_000).toISOString()}
        where key = 'k'`);
    };
    const query = { namespace_prefix: [], limit: 10, offset: 0 };
    const reads: [() => Promise<unknown>, number][] = [
      [() => lazy.get({ namespace, key: 'k' }), 1],
      [() => lazy.search(query), 1],
      [() => store.get({ namespace, key: 'k', refresh_ttl: false }), 1],
      [() => lazy.get({ namespace, key: 'k', refresh_ttl: true }), 60],
      [() => store.search({ ...query, refresh_ttl: null }), 60],
      [() => store.get({ namespace, key: 'k' }), 60],
    ];
    for (const [read, left] of reads) {
      await soon();
      await read();
      expect(await minutesLeft(db)).toEqual({ k: left, stays: null });
    }
  });

  test('is immediate when the TTL is negative', async () => {
    await using db = await open();
    const store = storeOver(db);
    await store.apply([{ namespace, key: 'k', value, ttl: -1 }]);
    expect(await store.get({ namespace, key: 'k' })).toBeUndefined();
    expect(await store.search({ namespace_prefix: [], limit: 10, offset: 0 })).toEqual([]);
    expect(await store.namespaces({ limit: 10, offset: 0 })).toEqual([]);
  });
});

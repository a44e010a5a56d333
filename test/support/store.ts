import { type LongTermStore, longTermStore, type StoreTtlRules } from '../../src/graphs/long-term-store.ts';
import type { Db } from '../../src/storage/db.ts';
import { storeItemRepository } from '../../src/storage/store-items.ts';

const TTL: StoreTtlRules = { refresh_on_read: true };

/** The long-term store over a database, without an index unless a test brings one. */
export function storeOver(db: Db, ttl: Partial<StoreTtlRules> = {}): LongTermStore {
  return longTermStore({ items: storeItemRepository(db), ttl: { ...TTL, ...ttl } });
}

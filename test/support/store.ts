import { silentLogger } from '../../src/core/logger.ts';
import type { Db } from '../../src/db/db.ts';
import type { Embedder } from '../../src/graphs/store/embedder.ts';
import {
  type LongTermStore,
  longTermStore,
  type StoreTtlRules,
} from '../../src/graphs/store/long-term-store.ts';
import { type StoreIndexRules, storeIndex } from '../../src/graphs/store/store-index.ts';
import { storeItemRepository } from '../../src/storage/store/items.ts';
import { bagOfWords } from './bag-of-words.ts';

const TTL: StoreTtlRules = { refresh_on_read: true };

/** The long-term store over a database, searched by words. */
export function storeOver(db: Db, ttl: Partial<StoreTtlRules> = {}): LongTermStore {
  return longTermStore({ items: storeItemRepository(db), ttl: { ...TTL, ...ttl } });
}

/** The same, searched by meaning. */
export async function indexedStoreOver(
  db: Db,
  {
    rules,
    embed,
  }: { rules?: Partial<StoreIndexRules>; embed?: (texts: string[]) => Promise<number[][]> } = {},
): Promise<LongTermStore> {
  const { dims = 64 } = rules ?? {};
  const documents = embed ?? bagOfWords(dims);
  const embedder: Embedder = { documents, query: async (text) => (await documents([text]))[0] as number[] };
  const items = storeItemRepository(db);
  const form = await items.prepareVectors();
  const index = storeIndex({
    embedder,
    rules: { dims, embed: 'bag-of-words', ...rules },
    form: form.kind,
    logger: silentLogger,
  });
  return longTermStore({ items, ttl: TTL, index });
}

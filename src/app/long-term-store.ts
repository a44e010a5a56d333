import type { Config } from '../config/schema.ts';
import { type LongTermStore, longTermStore } from '../graphs/long-term-store.ts';
import type { Storage } from '../storage/storage.ts';

/** The long-term store as the configuration wants it. */
export function openLongTermStore({ store }: Config, { storeItems: items }: Storage): LongTermStore {
  return longTermStore({ items, ttl: store.ttl });
}

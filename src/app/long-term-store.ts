import { basename } from 'node:path';
import { ConfigError } from '../config/problems.ts';
import type { Config } from '../config/schema.ts';
import type { Logger } from '../core/logger.ts';
import { type Embedder, loadEmbedder } from '../graphs/embedder.ts';
import { type LongTermStore, longTermStore } from '../graphs/long-term-store.ts';
import { type StoreIndex, storeIndex } from '../graphs/store-index.ts';
import type { Storage } from '../storage/storage.ts';

/** The long-term store as the configuration wants it. Throws a `ConfigError` when its embedder cannot be had. */
export async function openLongTermStore(
  config: Config,
  { storeItems: items }: Pick<Storage, 'storeItems'>,
  logger: Logger,
): Promise<LongTermStore> {
  return longTermStore({ items, ttl: config.store.ttl, index: await openIndex(config, items, logger) });
}

async function openIndex(
  config: Config,
  items: Storage['storeItems'],
  logger: Logger,
): Promise<StoreIndex | undefined> {
  const rules = config.store.index;
  const embedder = await configuredEmbedder(config);
  if (!rules || !embedder) return undefined;
  const form = await items.prepareVectors();
  logger.info('the store is searched by meaning', { ...rules, vectors: form.kind });
  return storeIndex({ embedder, rules, form: form.kind, logger });
}

async function configuredEmbedder({ store, root, file }: Config): Promise<Embedder | undefined> {
  if (!store.index) return undefined;
  try {
    return await loadEmbedder({ ...store.index, root });
  } catch (error) {
    const source = file === undefined ? 'configuration' : basename(file);
    throw new ConfigError([`${source}: store.index.embed: ${(error as Error).message}`]);
  }
}

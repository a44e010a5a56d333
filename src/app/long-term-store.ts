import { loadConfigured } from '../config/load-configured.ts';
import type { Config } from '../config/schema.ts';
import type { Logger } from '../core/logger.ts';
import { loadEmbedder } from '../graphs/store/embedder.ts';
import { type LongTermStore, longTermStore } from '../graphs/store/long-term-store.ts';
import { type StoreIndex, storeIndex } from '../graphs/store/store-index.ts';
import type { Asking } from '../hosts/pool/ask.ts';
import { loadedInHosts, remoteEmbedder } from '../hosts/pool/project-code.ts';
import type { Storage } from '../storage/storage.ts';

/** Opens the long-term store as configured. Throws a `ConfigError` if its embedder cannot be loaded. */
export async function openLongTermStore(
  config: Config,
  { storeItems: items }: Pick<Storage, 'storeItems'>,
  { logger, hosts }: { logger: Logger; hosts: Asking | undefined },
): Promise<LongTermStore> {
  const index = await openIndex(config, items, logger, hosts);
  return longTermStore({ items, ttl: config.store.ttl, index });
}

async function openIndex(
  config: Config,
  items: Storage['storeItems'],
  logger: Logger,
  hosts: Asking | undefined,
): Promise<StoreIndex | undefined> {
  const rules = config.store.index;
  if (!rules) return undefined;
  const loading = hosts
    ? loadedInHosts(hosts, 'embedder').then(() => remoteEmbedder(hosts))
    : loadEmbedder({ ...rules, root: config.root });
  const embedder = await loadConfigured(config, 'store.index.embed', loading);
  const form = await items.prepareVectors();
  logger.info('semantic search of the store is enabled', { ...rules, vectors: form.kind });
  return storeIndex({ embedder, rules, form: form.kind, logger });
}

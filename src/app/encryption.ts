import type { Config } from '../config/schema.ts';
import { entropy } from '../core/random.ts';
import { aesSealer } from '../storage/encryption/aes.ts';
import { keyRing } from '../storage/encryption/key-ring.ts';
import type { Sealer } from '../storage/encryption/sealer.ts';

/** What seals at rest, as the configuration wants it; undefined when nothing is sealed. */
export async function openSealer({ encryption }: Config): Promise<Sealer | undefined> {
  const { key, fallback_keys } = encryption;
  return key === undefined ? undefined : aesSealer(keyRing(key, fallback_keys), entropy());
}

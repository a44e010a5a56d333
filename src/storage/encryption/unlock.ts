import { Unavailable } from '../../core/errors.ts';
import type { RandomBytes } from '../../core/random.ts';
import type { Db } from '../../db/db.ts';
import { DecryptionError } from '../../db/encryption/cipher.ts';
import type { EncryptingCipher } from '../../db/encryption/encrypting-cipher.ts';
import { sql } from '../../db/sql.ts';
import { serverSecretRepository } from '../access/server-secrets.ts';

/** Name of the blind index secret. Rotation re-encrypts it last, so a key that is still needed is missed at startup. */
const BLIND_INDEX_KEY = 'encryption tokens';

/**
 * Loads the blind index key, creating it when encryption is first enabled. Throws `Unavailable` if the database was
 * encrypted with a key that `cipher` does not have.
 */
export async function unlock(db: Db, cipher: EncryptingCipher, random: RandomBytes): Promise<void> {
  const secrets = serverSecretRepository(db);
  try {
    const key = await secrets.getOrCreate(BLIND_INDEX_KEY, random(32).toString('base64url'));
    cipher.useBlindIndexKey(Buffer.from(key, 'base64url'));
  } catch (cause) {
    if (!(cause instanceof DecryptionError)) throw cause;
    const detail = 'The database was encrypted with another key, or not all of it is under the new one yet.';
    throw new Unavailable(
      `${detail} Set LANGGRAPH_AES_KEY to its key, or add that key to LANGGRAPH_AES_FALLBACK_KEYS.`,
      { cause },
    );
  }
}

/** Throws `Unavailable` if the database is encrypted: without its key it is unreadable. */
export async function assertPlain(db: Db): Promise<void> {
  const met = await db.get(sql`select 1 from server_secrets where name = ${BLIND_INDEX_KEY}`);
  if (!met) return;
  throw new Unavailable(
    'The database is encrypted, and no key is configured. Set LANGGRAPH_AES_KEY to its key.',
  );
}

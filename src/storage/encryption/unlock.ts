import { Unavailable } from '../../core/errors.ts';
import type { RandomBytes } from '../../core/random.ts';
import { columns } from '../../db/columns.ts';
import type { Db, Reader } from '../../db/db.ts';
import { type Cipher, DecryptionError, type Encryptor, plainCipher } from '../../db/encryption/cipher.ts';
import { EncryptingCipher } from '../../db/encryption/encrypting-cipher.ts';
import { sql } from '../../db/sql.ts';
import { SECRET_COLUMN, serverSecretRepository } from '../access/server-secrets.ts';

/** Name of the blind index secret. Rotation re-encrypts it last, so a key that is still needed is missed at startup. */
const BLIND_INDEX_KEY = 'encryption tokens';

const WRONG_KEY =
  'The database was encrypted with another key, or its re-encryption with the new key is incomplete. ' +
  'Set LANGGRAPH_AES_KEY to its key, or add that key to LANGGRAPH_AES_FALLBACK_KEYS.';
const NO_KEY = 'The database is encrypted, and no key is configured. Set LANGGRAPH_AES_KEY to its key.';

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
    throw new Unavailable(WRONG_KEY, { cause });
  }
}

/**
 * The cipher for a database that is only read, such as the source of a copy; a plain one if it was never encrypted.
 * Throws `Unavailable` if it is encrypted and `encryptor` is missing or lacks its key.
 */
export async function unlockReader(reader: Reader, encryptor: Encryptor | undefined): Promise<Cipher> {
  const row = await reader.get(
    sql`select ${columns('server_secrets', 'secret')} from server_secrets where name = ${BLIND_INDEX_KEY}`,
  );
  if (!row) return plainCipher;
  if (!encryptor) throw new Unavailable(NO_KEY);
  const cipher = new EncryptingCipher(encryptor);
  try {
    cipher.useBlindIndexKey(Buffer.from(cipher.decryptText(SECRET_COLUMN, row.secret), 'base64url'));
    return cipher;
  } catch (cause) {
    throw cause instanceof DecryptionError ? new Unavailable(WRONG_KEY, { cause }) : cause;
  }
}

/** Throws `Unavailable` if the database is encrypted: without its key it is unreadable. */
export async function assertPlain(db: Db): Promise<void> {
  if (!(await isEncrypted(db))) return;
  throw new Unavailable(NO_KEY);
}

/** Whether a server with encryption has ever used the database. */
export async function isEncrypted(reader: Reader): Promise<boolean> {
  const met = await reader.get(sql`select 1 from server_secrets where name = ${BLIND_INDEX_KEY}`);
  return met !== undefined;
}

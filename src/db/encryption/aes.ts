import { createCipheriv, createDecipheriv } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { RandomBytes } from '../../core/random.ts';
import { DecryptionError, type Encryptor } from './cipher.ts';
import type { KeyRing, MasterKey } from './key-ring.ts';

const SALT = 16;
const NONCE = 12;
const TAG = 16;
const HEADER = SALT + NONCE + TAG;

/** With random nonces, GCM allows 2^32 encryptions per key (NIST SP 800-38D §8.3). */
const MAX_ENCRYPTIONS_PER_KEY = 2 ** 31;
/** Every process start adds one; deriving it again takes a few microseconds. */
const MAX_CACHED_DATA_KEYS = 1000;

/**
 * AES-256-GCM with data keys derived per process. Format: salt, nonce, tag, ciphertext. The salt is in the value, so
 * any process can decrypt what another encrypted. The column is authenticated with the value; the row is not, because
 * the database itself copies rows, as when a thread is copied.
 */
export function aesEncryptor(keys: KeyRing, random: RandomBytes): Encryptor {
  const dataKeys = new LRUCache<string, Uint8Array>({ max: MAX_CACHED_DATA_KEYS });
  let salt = random(SALT);
  let encryptions = 0;

  function dataKey(master: MasterKey, bySalt: Uint8Array): Uint8Array {
    const name = master.id + Buffer.from(bySalt).toString('latin1');
    const known = dataKeys.get(name);
    if (known) return known;
    const key = master.dataKey(bySalt);
    dataKeys.set(name, key);
    return key;
  }

  return {
    key_id: keys.current.id,
    encrypt(plain, column) {
      if (++encryptions > MAX_ENCRYPTIONS_PER_KEY) {
        salt = random(SALT);
        encryptions = 1;
      }
      const nonce = random(NONCE);
      const aes = createCipheriv('aes-256-gcm', dataKey(keys.current, salt), nonce);
      aes.setAAD(Buffer.from(column));
      const text = [aes.update(plain), aes.final()];
      return Buffer.concat([salt, nonce, aes.getAuthTag(), ...text]);
    },
    decrypt(key_id, value, column) {
      const master = keys.find(key_id);
      if (!master)
        throw new DecryptionError(`${column} is encrypted with a key that is not configured (${key_id})`);
      const at = (start: number, size: number) => value.subarray(start, start + size);
      try {
        const key = dataKey(master, at(0, SALT));
        const aes = createDecipheriv('aes-256-gcm', key, at(SALT, NONCE), { authTagLength: TAG });
        aes.setAAD(Buffer.from(column));
        aes.setAuthTag(at(SALT + NONCE, TAG));
        return Buffer.concat([aes.update(value.subarray(HEADER)), aes.final()]);
      } catch (cause) {
        throw new DecryptionError(
          `${column} was changed, or moved from another column, after it was encrypted`,
          {
            cause,
          },
        );
      }
    },
  };
}

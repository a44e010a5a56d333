import { bufferedRandomBytes } from '../../src/core/random.ts';
import { aesEncryptor } from '../../src/db/encryption/aes.ts';
import type { Encryptor } from '../../src/db/encryption/cipher.ts';
import { type GivenKey, keyRing } from '../../src/db/encryption/key-ring.ts';

/** A key of 32 bytes. */
export const TEST_KEY = 'MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=';

/** AES, as a server with this key and these fallback keys has it. */
export function testSealer(key: GivenKey = TEST_KEY, fallback: readonly GivenKey[] = []): Encryptor {
  return aesEncryptor(keyRing(key, fallback), bufferedRandomBytes());
}

/** With `TEST_ENCRYPTION=1` all databases of the tests are encrypted: nothing that they see may change by it. */
const IS_ON = process.env['TEST_ENCRYPTION'] === '1';

/** For a database that is encrypted only then. */
export function sealerOfTests(): Encryptor | undefined {
  return IS_ON ? testSealer() : undefined;
}

/** For a server that encrypts only then. */
export const ENCRYPTION_OF_TESTS: Readonly<Record<string, string>> = IS_ON
  ? { LANGGRAPH_AES_KEY: TEST_KEY }
  : {};

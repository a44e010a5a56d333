import { expect, test } from 'vitest';
import { bufferedRandomBytes } from '../../../src/core/random.ts';
import { DecryptionError } from '../../../src/db/encryption/cipher.ts';
import { EncryptingCipher } from '../../../src/db/encryption/encrypting-cipher.ts';
import {
  createEncryptor,
  type EncryptionContext,
  type EncryptionHandlers,
  parseHandlers,
} from '../../../src/db/encryption/handlers.ts';
import { TEST_KEY, testSealer } from '../../support/encryption.ts';
import { failure } from '../../support/naming.ts';

const NEW_KEY = 'a new key that has 32 characters';
const NONE = { fallback_keys: [] };

/** Turns bits over; no good for anything but a test. */
class Turned {
  readonly #mask = 0xff;
  readonly columns: string[] = [];
  encrypt(plain: Uint8Array, { column }: EncryptionContext): Uint8Array {
    this.columns.push(column);
    return plain.map((byte) => byte ^ this.#mask);
  }
  decrypt(encrypted: Uint8Array, context: EncryptionContext): Uint8Array {
    return this.encrypt(encrypted, context);
  }
}

async function cipherOf(handlers: EncryptionHandlers, keys: Parameters<typeof createEncryptor>[0] = NONE) {
  const sealer = await createEncryptor(keys, handlers, bufferedRandomBytes());
  return sealer && new EncryptingCipher(sealer);
}

test('encryption keys from a project function take precedence over configured ones', async () => {
  const keys = async () => ({ current: NEW_KEY, fallback: [TEST_KEY] });
  const cipher = await cipherOf({ keys }, { key: 'one more key of 24 bytes', fallback_keys: [] });
  const old = new EncryptingCipher(testSealer()).encryptText('runs.error', 'x');
  const more = new EncryptingCipher(testSealer('one more key of 24 bytes')).encryptText('runs.error', 'y');

  expect(cipher?.decryptText('runs.error', old)).toBe('x');
  expect(cipher?.decryptText('runs.error', more)).toBe('y');
  const sealed = cipher?.encryptText('runs.error', 'z') ?? '';
  expect(new EncryptingCipher(testSealer(NEW_KEY)).decryptText('runs.error', sealed)).toBe('z');
});

test('an invalid encryption key from a project function is reported without its value', async () => {
  const keys = () => ({ current: 'secret but short' + '!' });
  await expect(createEncryptor(NONE, { keys }, bufferedRandomBytes())).rejects.toThrow(
    failure(Error, 'key', '16, 24 or 32 bytes'),
  );
});

test('encrypt and decrypt handlers of a project receive the column of each value', async () => {
  const own = new Turned();
  const cipher = await cipherOf(parseHandlers(own));
  const sealed = cipher?.encryptJson('runs.kwargs', '{"a":1}') ?? '';
  expect(sealed).toMatch(/^"sealed:handlers:.+"$/);
  expect(cipher?.decryptJson('runs.kwargs', sealed)).toBe('{"a":1}');
  expect(own.columns.slice(-2)).toEqual(['runs.kwargs', 'runs.kwargs']);
});

test('encryption handlers can coexist with values of a configured key, until it is removed', async () => {
  const old = new EncryptingCipher(testSealer()).encryptText('runs.error', 'x');
  const with_key = await cipherOf(parseHandlers(new Turned()), { key: TEST_KEY, fallback_keys: [] });
  expect(with_key?.decryptText('runs.error', old)).toBe('x');
  expect(with_key?.encryptText('runs.error', 'x')).toContain(':handlers:');
  const without = await cipherOf(parseHandlers(new Turned()));
  expect(() => without?.decryptText('runs.error', old)).toThrow(
    failure(DecryptionError, 'runs.error', 'not configured'),
  );
});

test('with only a decrypt handler, new values are encrypted with the configured key', async () => {
  const sealed = (await cipherOf(parseHandlers(new Turned())))?.encryptText('runs.error', 'x') ?? '';
  const { decrypt } = parseHandlers(new Turned());
  const cipher = await cipherOf({ decrypt } as EncryptionHandlers, { key: TEST_KEY, fallback_keys: [] });
  expect(cipher?.decryptText('runs.error', sealed)).toBe('x');
  expect(cipher?.encryptText('runs.error', 'x')).not.toContain(':handlers:');
  await expect(
    createEncryptor(NONE, { decrypt } as EncryptionHandlers, bufferedRandomBytes()),
  ).rejects.toThrow('requires keys');
});

test('a failing decrypt handler is an error without the reason, which is its cause', async () => {
  const decrypt = (sealed: Uint8Array, { column }: EncryptionContext) => {
    if (column === 'runs.error') throw new Error('the vault says no to key 4711');
    return sealed;
  };
  const cipher = await cipherOf({ encrypt: (plain) => plain, decrypt });
  const sealed = cipher?.encryptText('runs.error', 'x') ?? '';
  expect(() => cipher?.decryptText('runs.error', sealed)).toThrow(
    failure(DecryptionError, 'runs.error', 'encryption.path'),
  );
});

test.each([
  [undefined, 'must be an object with keys(), or with encrypt() and decrypt()'],
  [{}, 'must be an object with keys(), or with encrypt() and decrypt()'],
  [{ keys: TEST_KEY }, 'keys must be a function'],
  [{ encrypt: () => {} }, 'encrypt requires decrypt'],
])('encryption handlers %j are refused', (exported, reason) => {
  expect(() => parseHandlers(exported)).toThrow(reason);
});

test.each([
  ['decrypt does not return', { encrypt: (plain: Uint8Array) => plain, decrypt: () => Buffer.from('no') }],
  ['encrypt must return a Uint8Array', { encrypt: async () => Buffer.of(), decrypt: () => Buffer.of() }],
  ['cannot be decrypted', { encrypt: (plain: Uint8Array) => plain, decrypt: () => 'text' }],
])('encryption handlers that do not work fail the start: %s', async (reason, handlers) => {
  await expect(createEncryptor(NONE, parseHandlers(handlers), bufferedRandomBytes())).rejects.toThrow(reason);
});

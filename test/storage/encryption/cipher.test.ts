import { expect, test } from 'vitest';
import { bufferedRandomBytes } from '../../../src/core/random.ts';
import { DecryptionError, plainCipher } from '../../../src/db/encryption/cipher.ts';
import { EncryptingCipher } from '../../../src/db/encryption/encrypting-cipher.ts';
import { testSealer } from '../../support/encryption.ts';
import { failure } from '../../support/naming.ts';

const OLD_KEY = 'an old key of 32 bytes, all plain';
const TEXT = 'the patient is called Ada 🩺';

function cipher(...keys: Parameters<typeof testSealer>) {
  const made = new EncryptingCipher(testSealer(...keys));
  made.useBlindIndexKey(Buffer.alloc(32, 7));
  return made;
}

test('an encrypted value can be decrypted and reveals nothing', () => {
  const { sealJson, openJson, sealText, openText, sealBytes, openBytes } = bound(cipher());
  const json = JSON.stringify({ name: TEXT, list: [1, 'Ada'] });
  const bytes = Buffer.from(TEXT);

  expect(openText('runs.error', sealText('runs.error', TEXT))).toBe(TEXT);
  expect(openJson('runs.kwargs', sealJson('runs.kwargs', json))).toBe(json);
  expect(Buffer.from(openBytes('blobs.value', sealBytes('blobs.value', bytes)))).toEqual(bytes);
  expect(openText('runs.error', sealText('runs.error', ''))).toBe('');
  expect(openBytes('blobs.value', sealBytes('blobs.value', Buffer.of()))).toHaveLength(0);

  expect(typeof JSON.parse(sealJson('runs.kwargs', json))).toBe('string');
  expect(Buffer.from(sealBytes('blobs.value', bytes)).includes('Ada')).toBe(false);
  expect(sealText('runs.error', TEXT)).not.toBe(sealText('runs.error', TEXT));
});

test('a value encrypted by another process with the same key can be decrypted', () => {
  expect(cipher().decryptText('runs.error', cipher().encryptText('runs.error', TEXT))).toBe(TEXT);
});

test('a plain value is decrypted to itself', () => {
  const { openJson, openText, openBytes } = bound(cipher());
  for (const text of ['', 'plain', 'sealed: no', 'sealed:0123456', 'sealed:ABCDEFGH:AAAA']) {
    expect(openText('runs.error', text)).toBe(text);
    expect(openJson('runs.error', JSON.stringify(text))).toBe(JSON.stringify(text));
  }
  const bytes = Buffer.from([0xc0, 1, 2, 3]);
  expect(openBytes('blobs.value', bytes)).toBe(bytes);
});

test('an encrypted value with a changed byte, or of another column, cannot be decrypted', () => {
  const { sealBytes, openBytes, sealText, openText } = bound(cipher());
  const sealed = sealBytes('blobs.value', Buffer.from(TEXT));
  for (let at = 'sealed:01234567:'.length + 1; at < sealed.length; at++) {
    const changed = Uint8Array.from(sealed);
    changed[at] = (changed[at] as number) ^ 1;
    expect(() => openBytes('blobs.value', changed)).toThrow('blobs.value was changed');
  }
  expect(() => openBytes('blobs.value', sealed.subarray(0, 40))).toThrow('blobs.value was changed');
  expect(() => openText('runs.kwargs', sealText('runs.error', TEXT))).toThrow('runs.kwargs was changed');
});

test('after a key change, values of the old key can be decrypted until that key is removed', () => {
  const old = cipher(OLD_KEY.slice(0, 32)).encryptText('runs.error', TEXT);
  const both = cipher(undefined, [OLD_KEY.slice(0, 32)]);

  expect(both.decryptText('runs.error', old)).toBe(TEXT);
  expect(cipher().decryptText('runs.error', both.encryptText('runs.error', TEXT))).toBe(TEXT);
  expect(() => cipher().decryptText('runs.error', old)).toThrow(
    failure(DecryptionError, 'runs.error', 'not configured'),
  );
});

test('a blind index token is deterministic, different for each purpose, and not the text', () => {
  const token = cipher().blindIndex('store_items.value', 'Ada');
  expect(token).toMatch(/^[0-9a-f]{24}$/);
  expect(cipher(OLD_KEY.slice(0, 32)).blindIndex('store_items.value', 'Ada')).toBe(token);
  expect(cipher().blindIndex('threads.outline', 'Ada')).not.toBe(token);
  expect(cipher().blindIndex('store_items.value', 'ada')).not.toBe(token);
});

test('the plain cipher leaves values unchanged', () => {
  const bytes = Buffer.from(TEXT);
  expect(plainCipher.encryptBytes('blobs.value', bytes)).toBe(bytes);
  expect(plainCipher.encryptText('runs.error', TEXT)).toBe(TEXT);
  expect(plainCipher.encryptJson('runs.error', '{}')).toBe('{}');
  expect(plainCipher.blindIndex('store_items.value', TEXT)).toBe(TEXT);
});

test('buffered random bytes come in any number and are never repeated', () => {
  const random = bufferedRandomBytes();
  const given = Array.from({ length: 2000 }, () => random(12).toString('hex'));
  expect(new Set(given).size).toBe(given.length);
});

/** Methods that can be taken apart. */
function bound(made: EncryptingCipher) {
  return {
    sealJson: made.encryptJson.bind(made),
    openJson: made.decryptJson.bind(made),
    sealText: made.encryptText.bind(made),
    openText: made.decryptText.bind(made),
    sealBytes: made.encryptBytes.bind(made),
    openBytes: made.decryptBytes.bind(made),
  };
}

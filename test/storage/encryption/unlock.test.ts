import { expect, test } from 'vitest';
import type { Encryptor } from '../../../src/db/encryption/cipher.ts';
import { openStorage } from '../../../src/storage/storage.ts';
import { TEST_KEY, testSealer } from '../../support/encryption.ts';
import { describeEachPlace } from '../../support/storage-places.ts';

const NEW_KEY = 'a new key that has 32 characters';
const WRONG = /^The database was encrypted with another key, .* LANGGRAPH_AES_FALLBACK_KEYS\.$/;

describeEachPlace('an encrypted database', (place) => {
  test('opens again with its key and with no other, nor without one', async () => {
    const url = await place();
    await opened(url, testSealer());
    await opened(url, testSealer());

    await expect(opened(url, testSealer(NEW_KEY))).rejects.toThrow(WRONG);
    await expect(opened(url)).rejects.toThrow(
      'The database is encrypted, and no key is configured. Set LANGGRAPH_AES_KEY to its key.',
    );
    await opened(url, testSealer(NEW_KEY, [TEST_KEY]));
    await opened(url, testSealer());
  });

  test('may have begun without encryption, and then keeps to its key', async () => {
    const url = await place();
    await opened(url);
    await opened(url);
    await opened(url, testSealer());
    await expect(opened(url)).rejects.toThrow('The database is encrypted');
  });

  test('is unlocked by several processes at once', async () => {
    const url = await place();
    if (url.startsWith('sqlite:')) return;
    await Promise.all([1, 2, 3].map(() => opened(url, testSealer())));
  });
});

/** Opens and closes. */
async function opened(url: string, sealer?: Encryptor): Promise<void> {
  await using storage = await openStorage({ url, synchronous: 'normal', encryptor: sealer });
  await storage.ping();
}

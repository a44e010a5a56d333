import { expect, test } from 'vitest';
import type { Encryptor } from '../../../src/db/encryption/cipher.ts';
import { openStorage } from '../../../src/storage/storage.ts';
import { TEST_KEY, testSealer } from '../../support/encryption.ts';
import { failure } from '../../support/naming.ts';
import { describeEachPlace } from '../../support/storage-places.ts';

const NEW_KEY = 'a new key that has 32 characters';
const WRONG = failure(Error, 'another key', 'LANGGRAPH_AES_FALLBACK_KEYS');

describeEachPlace('an encrypted database', (place) => {
  test('opens only with its key', async () => {
    const url = await place();
    await opened(url, testSealer());
    await opened(url, testSealer());

    await expect(opened(url, testSealer(NEW_KEY))).rejects.toThrow(WRONG);
    await expect(opened(url)).rejects.toThrow(failure(Error, 'encrypted', 'no key', 'LANGGRAPH_AES_KEY'));
    await opened(url, testSealer(NEW_KEY, [TEST_KEY]));
    await opened(url, testSealer());
  });

  test('that was plain before opens only with its key from then on', async () => {
    const url = await place();
    await opened(url);
    await opened(url);
    await opened(url, testSealer());
    await expect(opened(url)).rejects.toThrow(failure(Error, 'encrypted', 'no key'));
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

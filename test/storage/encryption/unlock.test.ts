import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import type { Sealer } from '../../../src/storage/encryption/sealer.ts';
import { openStorage } from '../../../src/storage/storage.ts';
import { postgresSchema, TEST_KEY, TEST_POSTGRES_URI, testSealer } from '../../support/databases.ts';

const NEW_KEY = 'a new key that has 32 characters';
const WRONG = /^The database was encrypted with another key, .* LANGGRAPH_AES_FALLBACK_KEYS\.$/;

const root = mkdtempSync(join(tmpdir(), 'agent-server-unlock-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));
let made = 0;

const places = [{ name: 'SQLite', place: async () => ({ url: `sqlite:${join(root, `${++made}.db`)}` }) }];
if (TEST_POSTGRES_URI) {
  places.push({ name: 'PostgreSQL', place: () => postgresSchema(TEST_POSTGRES_URI as string) });
}

describe.each(places)('a database on $name', ({ place }) => {
  test('opens again with its key and with no other, nor without one', async () => {
    const { url } = await place();
    await opened(url, testSealer());
    await opened(url, testSealer());

    await expect(opened(url, testSealer(NEW_KEY))).rejects.toThrow(WRONG);
    await expect(opened(url)).rejects.toThrow(
      'The database is encrypted, and no key is configured. Set LANGGRAPH_AES_KEY to its key.',
    );
    await opened(url, testSealer(NEW_KEY, [TEST_KEY]));
    await opened(url, testSealer());
  });

  test('that began without encryption opens with a key, and then keeps to it', async () => {
    const { url } = await place();
    await opened(url);
    await opened(url);
    await opened(url, testSealer());
    await expect(opened(url)).rejects.toThrow('The database is encrypted');
  });

  test('is unlocked by several processes at once', async () => {
    const { url } = await place();
    if (url.startsWith('sqlite:')) return;
    await Promise.all([1, 2, 3].map(() => opened(url, testSealer())));
  });
});

/** Opens and closes. */
async function opened(url: string, sealer?: Sealer): Promise<void> {
  await using storage = await openStorage({ url, synchronous: 'normal', sealer });
  await storage.ping();
}

import { expect, test } from 'vitest';
import { serverSecretRepository } from '../../src/storage/access/server-secrets.ts';
import { describeEachStorage } from '../support/databases.ts';

describeEachStorage('server secrets', (open) => {
  test('a secret is made once and stays', async () => {
    await using db = await open();
    const secrets = serverSecretRepository(db);
    expect(await secrets.getOrCreate('states', 'first')).toBe('first');
    expect(await secrets.getOrCreate('states', 'second')).toBe('first');
    expect(await secrets.getOrCreate('tokens', 'other')).toBe('other');
  });

  test('of several processes that make it at once all have the same', async () => {
    await using db = await open();
    const secrets = serverSecretRepository(db);
    const made = await Promise.all(['a', 'b', 'c', 'd'].map((fresh) => secrets.getOrCreate('states', fresh)));
    expect(new Set(made).size).toBe(1);
  });
});

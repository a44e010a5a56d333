import { expect, test } from 'vitest';
import { serverSecretRepository } from '../../src/storage/access/server-secrets.ts';
import { describeEachStorage } from '../support/databases.ts';

describeEachStorage('server secrets', (open) => {
  test('a secret is made once and stays', async () => {
    await using db = await open();
    const secrets = serverSecretRepository(db);
    expect(await secrets.obtain('states', 'first')).toBe('first');
    expect(await secrets.obtain('states', 'second')).toBe('first');
    expect(await secrets.obtain('tokens', 'other')).toBe('other');
  });

  test('of several processes that make it at once all have the same', async () => {
    await using db = await open();
    const secrets = serverSecretRepository(db);
    const made = await Promise.all(['a', 'b', 'c', 'd'].map((fresh) => secrets.obtain('states', fresh)));
    expect(new Set(made).size).toBe(1);
  });
});

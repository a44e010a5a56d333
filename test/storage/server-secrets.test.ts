import { expect, test } from 'vitest';
import { serverSecretRepository } from '../../src/storage/access/server-secrets.ts';
import { describeEachStorage } from '../support/databases.ts';

describeEachStorage('server secrets', (open) => {
  test('are created once and kept', async () => {
    await using db = await open();
    const secrets = serverSecretRepository(db);
    expect(await secrets.getOrCreate('states', 'first')).toBe('first');
    expect(await secrets.getOrCreate('states', 'second')).toBe('first');
    expect(await secrets.getOrCreate('tokens', 'other')).toBe('other');
  });

  test('created by several processes at once are the same in all', async () => {
    await using db = await open();
    const secrets = serverSecretRepository(db);
    const made = await Promise.all(['a', 'b', 'c', 'd'].map((fresh) => secrets.getOrCreate('states', fresh)));
    expect(new Set(made).size).toBe(1);
  });
});

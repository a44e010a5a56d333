import { expect, test } from 'vitest';
import { ownerRule } from '../../src/auth/access-rules.ts';
import { type Actor, type Rule, systemActor } from '../../src/auth/actor.ts';
import { storeService } from '../../src/services/store.ts';
import { describeEachStorage } from '../support/databases.ts';
import { storeOver } from '../support/store.ts';

const PAGE = { limit: 10, offset: 0 };

function actor(...rules: Rule[]): Actor {
  return { ...systemActor('r'), rules };
}

/** As users write it: everybody below their own label. */
const below = (label: string): Rule => {
  return (_event, value) => {
    value['namespace'] = [label, ...(value['namespace'] as string[])];
    return undefined;
  };
};

const ownerOf = (owner: string): Rule => {
  return () => ({ metadata: { contains: { owner } } });
};

describeEachStorage('the store of a user', (open) => {
  test('is limited to the namespace that an auth rule sets', async () => {
    await using db = await open();
    const service = storeService({ store: storeOver(db) });
    const [ada, bob, all] = [actor(below('ada')), actor(below('bob')), actor()];
    await service.put(ada, { namespace: ['notes'], key: 'k', value: { of: 'ada' } });
    await service.put(bob, { namespace: ['notes'], key: 'k', value: { of: 'bob' } });
    expect(await service.get(ada, { namespace: ['notes'], key: 'k' })).toMatchObject({
      namespace: ['ada', 'notes'],
      value: { of: 'ada' },
    });
    expect((await service.search(bob, PAGE)).map(({ value }) => value)).toEqual([{ of: 'bob' }]);
    expect(await service.namespaces(ada, PAGE)).toEqual([['ada', 'notes']]);
    await service.delete(ada, { namespace: ['notes'], key: 'k' });
    expect((await service.search(all, PAGE)).map(({ value }) => value)).toEqual([{ of: 'bob' }]);
  });

  test('refuses an invalid namespace set by an auth rule', async () => {
    await using db = await open();
    const service = storeService({ store: storeOver(db) });
    const mail = actor(below('ada@example.com'));
    const item = { namespace: ['notes'], key: 'k', value: {} };
    await expect(service.put(mail, item)).rejects.toThrow('cannot contain periods');
    await expect(service.search(mail, PAGE)).rejects.toThrow('cannot contain periods');
    await expect(service.namespaces(actor(below('')), PAGE)).rejects.toThrow('cannot be empty');
  });

  test('hides items that an auth rule excludes', async () => {
    await using db = await open();
    const service = storeService({ store: storeOver(db) });
    const [ada, bob, all] = [actor(ownerOf('ada')), actor(ownerOf('bob')), actor()];
    const at = { namespace: ['shared', 'a'], key: 'k' };
    await service.put(all, { ...at, value: { owner: 'ada', text: 'tea' } });
    await service.put(all, { namespace: ['shared', 'b'], key: 'k', value: { owner: 'bob', text: 'tea' } });

    expect(await service.get(bob, at)).toBeNull();
    expect(await service.get(ada, at)).toMatchObject({ value: { owner: 'ada' } });
    for (const query of ['tea', undefined]) {
      const found = await service.search(bob, { ...PAGE, query });
      expect(found.map(({ value }) => value?.['owner'])).toEqual(['bob']);
    }
    expect(await service.namespaces(bob, PAGE)).toEqual([['shared', 'b']]);
    expect(await service.namespaces(bob, { ...PAGE, max_depth: 1 })).toEqual([['shared']]);
    await service.delete(bob, at);
    await expect(service.put(bob, { ...at, value: { owner: 'bob' } })).rejects.toThrow('Conflict');
    expect(await service.get(all, at)).toMatchObject({ value: { owner: 'ada', text: 'tea' } });

    // Rules about threads alone say nothing of items: then there are none.
    const ofThread = actor(() => ({ ids: ['5f0c2b1e-8d3a-4c56-9e7f-1a2b3c4d5e6f'] }));
    expect(await service.search(ofThread, PAGE)).toEqual([]);
  });

  test('gives a user named * no access to the items of others', async () => {
    await using db = await open();
    const service = storeService({ store: storeOver(db) });
    await service.put(actor(ownerRule('ada')), { namespace: ['ada', 'notes'], key: 'k', value: {} });
    const star = actor(ownerRule('*'));
    expect(await service.namespaces(star, PAGE)).toEqual([]);
    await expect(service.namespaces(star, { ...PAGE, prefix: ['*'] })).rejects.toThrow('"%2A"');
    expect(await service.namespaces(actor(ownerRule('ada')), PAGE)).toEqual([['ada', 'notes']]);
  });
});

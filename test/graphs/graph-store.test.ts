import {
  Annotation,
  type BaseStore,
  type LangGraphRunnableConfig,
  START,
  StateGraph,
} from '@langchain/langgraph';
import { expect, test } from 'vitest';
import type { Db } from '../../src/db/db.ts';
import { sql } from '../../src/db/sql.ts';
import { graphStore } from '../../src/graphs/store/graph-store.ts';
import { describeEachStorage } from '../support/databases.ts';
import { failure } from '../support/naming.ts';
import { storeOver } from '../support/store.ts';

function storeOf(db: Db): BaseStore {
  return graphStore(storeOver(db));
}

async function keys(store: BaseStore, prefix: string[], options: object = {}): Promise<string[]> {
  return (await store.search(prefix, { limit: 100, ...options })).map((item) => item.key).sort();
}

describeEachStorage('the store of graphs', (open) => {
  test('keeps an item until it is deleted, with the time of its creation', async () => {
    await using db = await open();
    const store = storeOf(db);
    const value = { name: 'Ada', tags: ['a', { b: null }], at: 1.5, text: 'nul:\0 😀' };
    expect(await store.get(['users', 'ü 1'], 'k')).toBeNull();
    await store.put(['users', 'ü 1'], 'k', value);
    const first = await store.get(['users', 'ü 1'], 'k');
    expect(first).toMatchObject({ namespace: ['users', 'ü 1'], key: 'k' });
    expect(first?.value).toEqual({ ...value, text: 'nul:\uFFFD 😀' });
    expect(first?.createdAt).toBeInstanceOf(Date);

    await store.put(['users', 'ü 1'], 'k', { name: 'Grace' });
    const second = await store.get(['users', 'ü 1'], 'k');
    expect(second?.value).toEqual({ name: 'Grace' });
    expect(second?.createdAt).toEqual(first?.createdAt);
    expect(second?.updatedAt.getTime()).toBeGreaterThanOrEqual(first?.updatedAt.getTime() ?? Number.NaN);

    await store.delete(['users', 'ü 1'], 'k');
    await store.delete(['users', 'ü 1'], 'k');
    expect(await store.get(['users', 'ü 1'], 'k')).toBeNull();
    expect(await store.listNamespaces()).toEqual([]);
  });

  test('matches whole labels of a namespace and returns the last changed item first', async () => {
    await using db = await open();
    const store = storeOf(db);
    for (const [n, namespace] of [['a'], ['a', 'b'], ['ab'], ['a-b'], ['a%'], ['a_'], ['b', 'a']].entries()) {
      await store.put(namespace, `${n}`, { n });
    }
    expect(await keys(store, ['a'])).toEqual(['0', '1']);
    expect(await keys(store, ['a', 'b'])).toEqual(['1']);
    expect(await keys(store, ['a%'])).toEqual(['4']);
    expect(await keys(store, ['a_'])).toEqual(['5']);
    expect(await keys(store, [])).toHaveLength(7);
    expect(await keys(store, ['nothing'])).toEqual([]);
    await db.run(sql`update store_items set updated_at = '2027-01-01T00:00:00.000Z' where key = '3'`);
    expect((await store.search([], { limit: 2 }))[0]?.key).toBe('3');
    const pages = [await store.search([], { limit: 4 }), await store.search([], { limit: 4, offset: 4 })];
    expect(new Set(pages.flat().map((item) => item.key)).size).toBe(7);
    expect(await store.search([])).toHaveLength(7);
  });

  test.each<[filter: Record<string, unknown>, found: string[]]>([
    [{}, ['big', 'deep', 'none', 'small', 'text']],
    [{ n: 1 }, ['small']],
    [{ n: '1' }, ['text']],
    [{ n: { $eq: 1.0 } }, ['small']],
    [{ n: { $ne: 1 } }, ['big', 'deep', 'none', 'text']],
    [{ n: { $gt: 1 } }, ['big']],
    [{ n: { $gte: 1, $lt: 10 } }, ['small']],
    [{ n: { $lte: 10.5 } }, ['big', 'small']],
    [{ n: { $gte: '1' } }, ['text']],
    [{ n: null }, ['deep', 'none']],
    [{ n: { $ne: null } }, ['big', 'small', 'text']],
    [{ ok: true }, ['big']],
    [{ ok: 1 }, []],
    [{ o: { b: [1, 2], a: { c: null } } }, ['deep']],
    [{ o: { b: [2, 1], a: { c: null } } }, []],
    [{ o: { a: { c: null } } }, []],
    [{ list: [1, 'x'] }, ['deep']],
    [{ n: 10, ok: true }, ['big']],
    [{ 'o.b': 1 }, []],
    [{ 'we"ird [0]': 'yes' }, ['text']],
    [{ missing: 1 }, []],
  ])('filters by %j', async (filter, found) => {
    await using db = await open();
    const store = storeOf(db);
    await store.put(['f'], 'small', { n: 1, ok: false });
    await store.put(['f'], 'big', { n: 10, ok: true });
    await store.put(['f'], 'text', { n: '1', 'we"ird [0]': 'yes' });
    await store.put(['f'], 'none', { n: null });
    await store.put(['f'], 'deep', { o: { a: { c: null }, b: [1, 2] }, list: [1, 'x'] });
    expect(await keys(store, ['f'], { filter })).toEqual(found);
  });

  test('lists namespaces by first and last labels, cut to a depth', async () => {
    await using db = await open();
    const store = storeOf(db);
    for (const namespace of [['a'], ['a', 'b'], ['a', 'b', 'c'], ['a', 'x', 'c'], ['d', 'x', 'c']]) {
      for (const key of ['1', '2']) await store.put(namespace, key, {});
    }
    expect(await store.listNamespaces()).toEqual([
      ['a'],
      ['a', 'b'],
      ['a', 'b', 'c'],
      ['a', 'x', 'c'],
      ['d', 'x', 'c'],
    ]);
    expect(await store.listNamespaces({ prefix: ['a', 'b'] })).toEqual([
      ['a', 'b'],
      ['a', 'b', 'c'],
    ]);
    expect(await store.listNamespaces({ prefix: ['*', 'x'] })).toEqual([
      ['a', 'x', 'c'],
      ['d', 'x', 'c'],
    ]);
    expect(await store.listNamespaces({ suffix: ['*', 'c'], prefix: ['a'] })).toEqual([
      ['a', 'b', 'c'],
      ['a', 'x', 'c'],
    ]);
    expect(await store.listNamespaces({ maxDepth: 1 })).toEqual([['a'], ['d']]);
    expect(await store.listNamespaces({ maxDepth: 2, prefix: ['a'] })).toEqual([
      ['a'],
      ['a', 'b'],
      ['a', 'x'],
    ]);
    expect(await store.listNamespaces({ maxDepth: 9, limit: 2, offset: 3 })).toEqual([
      ['a', 'x', 'c'],
      ['d', 'x', 'c'],
    ]);
    await expect(store.listNamespaces({ maxDepth: 0 })).rejects.toThrow('at least 1');
  });

  test.each([
    [[], 'Namespace cannot be empty.'],
    [[''], 'cannot be empty strings'],
    [['a.b'], 'cannot contain periods'],
    [['langgraph', 'x'], 'cannot be "langgraph"'],
    [['a\0'], 'NUL'],
    [[1 as unknown as string], 'must be strings'],
  ])('refuses the namespace %j', async (namespace, reason) => {
    await using db = await open();
    const store = storeOf(db);
    await expect(store.put(namespace, 'k', {})).rejects.toThrow(reason);
    await expect(store.batch([{ namespace, key: 'k', value: {} }])).rejects.toThrow(reason);
    await expect(store.put(['a'], 'k\0', {})).rejects.toThrow('NUL');
  });

  test('refuses unknown operators and comparisons with null', async () => {
    await using db = await open();
    const search = (filter: Record<string, unknown>) => storeOf(db).search(['a'], { filter });
    await expect(search({ n: { $in: [1] } })).rejects.toThrow('Unsupported operator: $in');
    await expect(search({ n: { $gt: null } })).rejects.toThrow(failure(Error, '$gt', 'number'));
    await expect(search({ n: { $gt: 1, other: 2 } })).rejects.toThrow('Unsupported operator: other');
  });

  test('executes a batch in order, or none of its changes if one fails', async () => {
    await using db = await open();
    const store = storeOf(db);
    const at = { namespace: ['a'], key: 'k' };
    const results = await store.batch([
      { ...at, value: { n: 1 } },
      at,
      { ...at, value: { n: 2 } },
      { namespacePrefix: ['a'], filter: { n: 2 } },
      { ...at, value: null },
      at,
      { limit: 10, offset: 0, matchConditions: [{ matchType: 'prefix', path: ['a'] }] },
    ] as never);
    expect(results).toMatchObject([
      undefined,
      { value: { n: 1 } },
      undefined,
      [{ key: 'k' }],
      undefined,
      null,
      [],
    ]);
    const circular: Record<string, unknown> = {};
    circular.self = circular;
    await expect(
      store.batch([
        { ...at, value: { n: 3 } },
        { ...at, value: circular },
      ]),
    ).rejects.toThrow();
    expect(await store.get(['a'], 'k')).toBeNull();
  });

  test('creates a new item when an expired one is put again', async () => {
    await using db = await open();
    const store = storeOver(db);
    const item = { namespace: ['a'], key: 'k', value: { n: 1 } };
    await store.apply([{ ...item, ttl: -1 }]);
    await db.run(sql`update store_items set created_at = '2020-01-01T00:00:00.000Z'`);
    await store.apply([{ ...item, ttl: 5 }]);
    expect((await store.get(item))?.created_at).not.toMatch('2020');
    expect(await keys(storeOf(db), ['a'])).toEqual(['k']);
  });

  test('is passed to the nodes of a graph', async () => {
    await using db = await open();
    const graph = new StateGraph(Annotation.Root({ seen: Annotation<string[]>() }))
      .addNode('remember', async (_state, { store }: LangGraphRunnableConfig) => {
        await store?.put(['memories'], 'one', { text: 'first' });
        await Promise.all([
          store?.put(['memories'], 'two', { text: 'second' }),
          store?.get(['memories'], 'one'),
        ]);
        return { seen: (await store?.search(['memories']))?.map((item) => item.value.text).sort() };
      })
      .addEdge(START, 'remember')
      .compile({ store: storeOf(db) });
    expect(await graph.invoke({})).toEqual({ seen: ['first', 'second'] });
  });
});

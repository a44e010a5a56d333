import { describe, expect, test } from 'vitest';
import { openApp } from '../support/app.ts';
import { TEST_KEY } from '../support/encryption.ts';
import { postgresSchema, TEST_POSTGRES_URI } from '../support/postgres-schema.ts';

type Environment = { readonly env: Record<string, string> } & AsyncDisposable;

const LONG = 'long 😀 '.repeat(100_000);

function tests(database: () => Promise<Environment>) {
  async function open() {
    const { env, ...opened } = await database();
    const http = await openApp({ graphs: ['echo'], environment: env });
    return {
      put: (item: object) => http.send('PUT', '/store/items', { namespace: ['notes'], ...item }),
      search: async (query: object) => (await http.post('/store/items/search', query)).body.items,
      get: async (query: string) => (await http.get(`/store/items?namespace=notes&${query}`)).body,
      async [Symbol.asyncDispose]() {
        await http[Symbol.asyncDispose]();
        await opened[Symbol.asyncDispose]();
      },
    };
  }

  test('a search of the store returns only the selected fields', async () => {
    await using store = await open();
    await store.put({ key: 'a', value: { kind: 'fact', text: 'likes tea' } });
    await store.put({ key: 'b', value: { kind: 'rule', text: 'no coffee' } });
    const found = await store.search({ filter: { kind: 'fact' }, select: ['key', 'score'] });
    expect(found).toEqual([{ key: 'a', score: null }]);
    expect(await store.search({ query: 'coffee', select: ['namespace', 'value'] })).toEqual([
      { namespace: ['notes'], value: { kind: 'rule', text: 'no coffee' } },
    ]);
    const [whole] = await store.search({ query: 'coffee' });
    expect(Object.keys(whole)).toEqual(['namespace', 'key', 'value', 'created_at', 'updated_at', 'score']);
  });

  test('a search of the store returns a bounded preview of a value of any size', async () => {
    await using store = await open();
    const short = { cups: 3, hot: true, note: 'black', none: null, tags: ['a', { b: 1 }] };
    await store.put({ key: 'short', value: short });
    await store.put({ key: 'long', value: { list: Array(5000).fill(7), text: LONG, n: 1 } });
    const found = await store.search({ select: ['key', 'preview'] });
    expect(found.find(({ key }: { key: string }) => key === 'short').preview).toEqual({
      fields: short,
      cut: [],
      omitted: 0,
    });
    expect(found.find(({ key }: { key: string }) => key === 'long').preview).toEqual({
      fields: { n: 1, list: `[${'7,'.repeat(100)}`.slice(0, 200), text: LONG.slice(0, 200) },
      cut: expect.arrayContaining(['list', 'text']),
      omitted: 0,
    });
    const [whole] = await store.search({ select: ['value', 'preview'], filter: { n: 1 } });
    expect(whole.value.text).toBe(LONG);
  });

  test('store items whose values are too large for one response are listed without them', async () => {
    await using store = await open();
    const text = 'x'.repeat(1_000_000);
    for (let n = 0; n < 68; n++) await store.put({ key: `key-${n}`, value: { text }, index: false });
    expect(await store.search({ limit: 100 })).toBeUndefined();
    const found = await store.search({ limit: 100, select: ['key', 'created_at'] });
    expect(found).toHaveLength(68);
  });

  test('the index setting of a store item is returned on request', async () => {
    await using store = await open();
    const value = { title: 'tea', text: 'green' };
    for (const [key, index] of Object.entries({ none: false, own: ['title'], usual: null }))
      await store.put({ key, value, index });
    expect((await store.get('key=none&include=index')).index).toBe(false);
    expect((await store.get('key=own&include=ttl,index')).index).toEqual(['title']);
    expect(await store.get('key=usual&include=index')).not.toHaveProperty('index');
    expect(await store.get('key=own')).not.toHaveProperty('index');
    expect(await store.get('key=unknown&include=index')).toBeNull();
  });
}

const onSqlite = async (env: Record<string, string>) => ({ env, async [Symbol.asyncDispose]() {} });
describe('on SQLite', () => tests(() => onSqlite({})));
describe('encrypted', () => tests(() => onSqlite({ LANGGRAPH_AES_KEY: TEST_KEY })));

describe.runIf(TEST_POSTGRES_URI)('on PostgreSQL', () =>
  tests(async () => {
    const schema = await postgresSchema(TEST_POSTGRES_URI as string);
    return { env: { DATABASE_URI: schema.url }, [Symbol.asyncDispose]: () => schema[Symbol.asyncDispose]() };
  }),
);

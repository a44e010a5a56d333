import { describe, expect, test } from 'vitest';
import { openApp } from '../support/app.ts';
import { postgresSchema, TEST_POSTGRES_URI } from '../support/postgres-schema.ts';

/** What means something to SQL, to its patterns, to paths in JSON, or to parameters. */
const WORDS = [
  "' or 1=1 --",
  '"; drop table threads; --',
  'a\'b"c`d',
  '$1',
  ':name',
  '?',
  '%',
  '_',
  '\\',
  "\\'",
  '$.a[0]',
  '{a,b}',
  '/*',
  ';',
  '\u2019 or 1=1',
];

/** Rows beside, which an answer that takes a word for SQL would have too. */
async function served(environment: Record<string, string>) {
  const server = await openApp({ graphs: ['echo'], environment });
  await server.post('/threads', { metadata: { a: 'b' } });
  await server.send('PUT', '/store/items', { namespace: ['other'], key: 'a', value: { a: 'b' } });
  return server;
}

function tests(environment: () => Promise<AsyncDisposable & { env: Record<string, string> }>) {
  test('SQL in the words of a search has no effect', async () => {
    await using place = await environment();
    await using server = await served(place.env);
    for (const word of WORDS) {
      const metadata = { [word]: word, [`${word}2`]: { [word]: [word] } };
      const id = await server.thread({ metadata });
      for (const asked of [metadata, { [word]: word }]) {
        const found = (await server.post('/threads/search', { metadata: asked })).body;
        expect([word, found.map(({ thread_id }: { thread_id: string }) => thread_id)]).toEqual([word, [id]]);
        expect((await server.post('/threads/count', { metadata: asked })).body).toBe(1);
      }
      const values = (await server.post('/threads/search', { values: { [word]: word } })).body;
      expect([word, values]).toEqual([word, []]);
      const assistant = { graph_id: 'echo', name: word, metadata: { [word]: word } };
      expect((await server.post('/assistants', assistant)).status).toBe(200);
      const named = (await server.post('/assistants/search', { name: word, metadata: assistant.metadata }))
        .body;
      expect([word, named.length]).toEqual([word, 1]);
      expect((await server.post('/threads/search', { sort_by: word })).status).toBe(422);
    }
    expect((await server.post('/threads/count', {})).body).toBe(WORDS.length + 1);
  });

  test('SQL in the words of the store has no effect', async () => {
    await using place = await environment();
    await using server = await served(place.env);
    for (const word of WORDS.filter((word) => !word.includes('.'))) {
      const item = { namespace: ['words', word], key: word, value: { [word]: word, text: `about ${word}` } };
      expect([word, (await server.send('PUT', '/store/items', item)).status]).toEqual([word, 204]);
      const filter = { [word]: word };
      const asked = { namespace_prefix: ['words', word], filter };
      const { items } = (await server.post('/store/items/search', asked)).body;
      expect([word, items.map(({ key }: { key: string }) => key)]).toEqual([word, [word]]);
      const searched = await server.post('/store/items/search', { namespace_prefix: [], query: word });
      expect([word, searched.status]).toEqual([word, 200]);
      const spaces = await server.post('/store/namespaces', { prefix: ['words', word], suffix: [word] });
      expect([word, spaces.body]).toEqual([word, { namespaces: [['words', word]] }]);
    }
    expect(
      (await server.post('/store/items/search', { namespace_prefix: ['other'] })).body.items,
    ).toHaveLength(1);
  });
}

const nowhere = async () => ({ env: {}, async [Symbol.asyncDispose]() {} });
describe('on SQLite', () => tests(nowhere));

describe.runIf(TEST_POSTGRES_URI)('on PostgreSQL', () =>
  tests(async () => {
    const schema = await postgresSchema(TEST_POSTGRES_URI as string);
    return { env: { DATABASE_URI: schema.url }, [Symbol.asyncDispose]: () => schema[Symbol.asyncDispose]() };
  }),
);

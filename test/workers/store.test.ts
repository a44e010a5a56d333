import { join } from 'node:path';
import { expect, test } from 'vitest';
import { silentLogger } from '../../src/core/logger.ts';
import { number } from '../../src/db/columns.ts';
import type { Db } from '../../src/db/db.ts';
import { sql } from '../../src/db/sql.ts';
import { storeItemRepository } from '../../src/storage/store/items.ts';
import { storeExpiryLoop, storeIndexLoop } from '../../src/workers/maintenance.ts';
import { openApp } from '../support/app.ts';
import { describeEachDatabase } from '../support/databases.ts';
import { project } from '../support/project.ts';
import { recordingLogger } from '../support/recording-logger.ts';
import { indexedStoreOver, storeOver } from '../support/store.ts';
import { until } from '../support/until.ts';

const namespace = ['m'];
const LONG_MS = 3_600_000;

async function counted(db: Db): Promise<{ items: number; vectors: number } | undefined> {
  return db.get(sql`select (select count(*) from store_items) as ${number('items')},
    (select count(*) from store_vectors) as ${number('vectors')}`);
}

describeEachDatabase('the maintenance of the store', (open) => {
  test('removes expired items with their index entries', async () => {
    await using db = await open();
    const store = await indexedStoreOver(db);
    await store.apply(
      Array.from({ length: 1100 }, (_, n) => ({ namespace, key: `${n}`, value: { text: 'tea' }, ttl: -1 })),
    );
    await store.apply([
      { namespace, key: 'later', value: { text: 'tea' }, ttl: 60 },
      { namespace, key: 'stays', value: { text: 'tea' } },
    ]);
    const lines: string[] = [];
    const loop = storeExpiryLoop({
      items: storeItemRepository(db),
      interval_ms: LONG_MS,
      logger: recordingLogger('info', ({ message, fields }) => lines.push(`${fields['items']} ${message}`)),
    });
    loop.start();
    await until('the sweep is over', () => lines.length > 0);
    await loop.stop();
    expect(lines).toEqual(['1100 store items expired']);
    expect(await counted(db)).toEqual({ items: 2, vectors: 2 });
    const found = await storeOver(db).search({ namespace_prefix: [], query: 'tea', limit: 9, offset: 0 });
    expect(found.map(({ key }) => key).sort()).toEqual(['later', 'stays']);
  });

  test('creates the vectors of older items', async () => {
    await using db = await open();
    await storeOver(db).apply(
      Array.from({ length: 120 }, (_, n) => ({ namespace, key: `${n}`, value: { text: `tea ${n}` } })),
    );
    // In fewer dimensions, other numbers have the place of 77.
    const store = await indexedStoreOver(db, { rules: { fields: ['text'], dims: 256 } });
    const loop = storeIndexLoop({ store, logger: silentLogger });
    loop.start();
    await until('all are indexed', async () => (await counted(db))?.vectors === 120);
    await loop.stop();
    const found = await store.search({ namespace_prefix: [], query: 'tea 77', limit: 1, offset: 0 });
    expect(found.map(({ key, score }) => [key, score && score > 0.99])).toEqual([['77', true]]);
  });
});

test('a server started with an index finds items of a server without one', async () => {
  await using folder = await project({
    'graph.mjs': 'export const graph = {};',
    'embed.mjs':
      'export const embed = (texts) => texts.map((text) => [/tea/.test(text), /cat/.test(text)].map(Number));',
    'agent.config.yaml': 'graphs: { none: ./graph.mjs:graph }',
  });
  const environment = { DATABASE_URI: `sqlite:${join(folder.root, 'data.db')}` };
  const search = { query: 'tea', namespace_prefix: ['m'] };
  {
    await using before = await openApp({ graphs: ['none'], folder: folder.root, environment });
    for (const text of ['a cat', 'tea']) {
      await before.send('PUT', '/store/items', { namespace, key: text, value: { text } });
    }
    expect((await before.post('/store/items/search', search)).body.items).toHaveLength(1);
  }
  const index = JSON.stringify({ index: { dims: 2, embed: './embed.mjs:embed', fields: ['text'] } });
  await using after = await openApp({
    graphs: ['none'],
    folder: folder.root,
    environment: { ...environment, LANGGRAPH_STORE: index },
  });
  await until('the store is indexed', () => after.log.some(({ message }) => message === 'store indexed'));
  const { body } = await after.post('/store/items/search', search);
  expect(body.items.map(({ key, score }: { key: string; score: number }) => [key, score])).toEqual([
    ['tea', 1],
    ['a cat', 0],
  ]);
});

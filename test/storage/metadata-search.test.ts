import { expect, test } from 'vitest';
import { toJson } from '../../src/core/json.ts';
import { filterMatches, type MetadataFilter } from '../../src/db/metadata-filter.ts';
import { AssistantSearch } from '../../src/schemas/assistants.ts';
import { ThreadSearch } from '../../src/schemas/threads.ts';
import { assistantRepository } from '../../src/storage/assistants/assistants.ts';
import { threadRepository } from '../../src/storage/threads/threads.ts';
import { contains } from '../support/contains.ts';
import { describeEachDatabase } from '../support/databases.ts';
import { RandomJson } from '../support/random-json.ts';
import { seededThreadId, seedThreads } from '../support/seeded-threads.ts';
import { at, freshThread, threadId } from '../support/stored-threads.ts';

type Document = Record<string, unknown>;

function satisfies(document: Document, filter: MetadataFilter): boolean {
  if ('all' in filter) return filter.all.every((each) => satisfies(document, each));
  if ('any' in filter) return filter.any.some((each) => satisfies(document, each));
  return contains(document, stored(filter.contains));
}

/** What is left of a value on its way through JSON. */
function stored(value: unknown): Document {
  return JSON.parse(toJson(value));
}

function randomFilter(random: RandomJson, documents: readonly Document[], levels = 2): MetadataFilter {
  const kind = levels > 0 ? random.below(4) : 0;
  const several = () =>
    Array.from({ length: random.below(3) }, () => randomFilter(random, documents, levels - 1));
  if (kind === 2) return { all: several() };
  if (kind === 3) return { any: several() };
  return { contains: random.partOfObject(random.one(documents)) };
}

const COUNT = 1000;

test('a filter matches the same metadata in memory as in the database', () => {
  const random = new RandomJson(20261);
  const documents = Array.from({ length: 50 }, () => random.object());
  const kept = documents.map(stored);
  let matching = 0;
  for (let round = 0; round < 100; round++) {
    const filter = randomFilter(random, documents);
    for (const document of kept) {
      const expected = satisfies(document, filter);
      if (expected) matching += 1;
      expect(filterMatches(document, filter), toJson(filter)).toBe(expected);
    }
  }
  expect(matching).toBeGreaterThan(100);
});

describeEachDatabase('searching by metadata', (open) => {
  test('finds exactly the documents that contain the filter, for any documents and filters', async () => {
    await using db = await open();
    const threads = threadRepository(db);
    const random = new RandomJson(20260);
    const documents = Array.from({ length: COUNT }, () => random.object());
    for (const [n, metadata] of documents.entries()) await threads.insert(freshThread(n, { metadata }));
    const kept = documents.map(stored);
    for (let round = 0; round < 80; round++) {
      const contained = random.partOfObject(random.one(documents));
      const visible = random.below(2) === 0 ? randomFilter(random, documents) : undefined;
      const limit = random.one([1, 10, COUNT]);
      const offset = random.one([0, 0, 5, 600]);
      const sort_order = random.one(['asc', 'desc'] as const);
      const sort_by = random.one([
        'created_at',
        'updated_at',
        'thread_id',
        'state_updated_at',
        'status',
      ] as const);
      const query = { ...ThreadSearch.parse({ sort_order, sort_by, offset }), metadata: contained };
      const filter: MetadataFilter = { all: [{ contains: contained }, ...(visible ? [visible] : [])] };
      const expected = kept.flatMap((document, n) => (satisfies(document, filter) ? [threadId(n)] : []));
      const ordered = sort_order === 'asc' ? expected : expected.toReversed();
      const found = await threads.search({ ...query, limit }, { metadata: visible });
      const told = `round ${round}: ${toJson(filter)}`;
      expect(
        found.map(({ thread_id }) => thread_id),
        told,
      ).toEqual(ordered.slice(offset, offset + limit));
      expect(await threads.count({ metadata: contained }, { metadata: visible }), told).toBe(expected.length);
    }
  });

  test('finds few or many documents that are late in the order of the page', async () => {
    await using db = await open();
    const threads = threadRepository(db);
    // Beyond all that SQLite reads at once; PostgreSQL has statistics and no such bounds.
    const [count, half, part] = db.dialect === 'sqlite' ? [35_000, 22_000, 2500] : [3500, 2200, 250];
    const metadata = (n: number) => ({
      ...(n < half && { half: 'old' }),
      ...(n < part && { part: 'oldest' }),
    });
    await seedThreads(db, count, () => null, metadata);
    const page = async (contained: Document, offset: number) => {
      const query = ThreadSearch.parse({ sort_by: 'created_at', metadata: contained, offset, limit: 2 });
      return (await threads.search(query)).map(({ thread_id }) => thread_id);
    };
    expect(await page({ part: 'oldest' }, 0)).toEqual([part - 1, part - 2].map(seededThreadId));
    expect(await page({ part: 'oldest' }, part - 1)).toEqual([seededThreadId(0)]);
    expect(await page({ half: 'old' }, 100)).toEqual([half - 101, half - 102].map(seededThreadId));
    expect(await threads.count({ metadata: { half: 'old' } })).toBe(half);
  });

  test('follows changes of the metadata', async () => {
    await using db = await open();
    const threads = threadRepository(db);
    const count = (metadata: Document) => threads.count({ metadata });
    await threads.insert(freshThread(1, { metadata: { user: 'a', tags: ['x', 'y'] } }));
    await threads.update(threadId(1), { metadata: { tags: ['y', 'z'] } }, at(2));
    expect(await count({ user: 'a', tags: ['z'] })).toBe(1);
    expect(await count({ tags: ['x'] })).toBe(0);
    await threads.copy({ source_id: threadId(1), target_id: threadId(2), at: at(3) });
    await threads.update(threadId(2), { metadata: { user: 'b' } }, at(4));
    expect([await count({ user: 'a' }), await count({ user: 'b' }), await count({ tags: ['y'] })]).toEqual([
      1, 1, 2,
    ]);
    await threads.delete(threadId(2));
    expect([await count({ user: 'b' }), await count({ tags: ['y'] })]).toEqual([0, 1]);
  });

  test('finds documents by values beyond the indexed number, and by deeply nested ones', async () => {
    await using db = await open();
    const threads = threadRepository(db);
    const many = Object.fromEntries(Array.from({ length: 500 }, (_, n) => [`key${n}`, n]));
    const deep = Array.from({ length: 40 }).reduce<Document>((inner) => ({ in: inner }), { n: 1 });
    await threads.insert(freshThread(1, { metadata: many }));
    await threads.insert(freshThread(2, { metadata: deep }));
    expect(await threads.count({ metadata: { key7: 7 } })).toBe(1);
    expect(await threads.count({ metadata: { key7: 8 } })).toBe(0);
    expect(await threads.count({ metadata: many })).toBe(1);
    expect(await threads.count({ metadata: deep })).toBe(1);
    await threads.update(threadId(1), { metadata: { key7: 8 } }, at(2));
    expect(await threads.count({ metadata: { key7: 8 } })).toBe(1);
  });

  test('finds assistants too, by each version that is current', async () => {
    await using db = await open();
    const assistants = assistantRepository(db);
    const assistant_id = threadId(1);
    await assistants.insert({
      assistant_id,
      graph_id: 'echo',
      name: 'Écho',
      description: null,
      config: {},
      context: {},
      version: 1,
      metadata: { team: { id: 1 } },
      created_at: at(1),
      updated_at: at(1),
    });
    await assistants.update(assistant_id, () => ({ metadata: { team: { id: 2 } } }), at(2));
    const found = async (query: object, visible?: MetadataFilter) =>
      (await assistants.search(AssistantSearch.parse(query), { metadata: visible })).length;
    expect(await found({ metadata: { team: { id: 2 } }, sort_by: 'name' })).toBe(1);
    expect(await found({ metadata: { team: { id: 1 } } })).toBe(0);
    expect(await found({ name: 'écH' }, { any: [{ contains: { team: { id: 2 } } }] })).toBe(1);
    expect(await found({ graph_id: 'echo', sort_by: 'graph_id' }, { any: [] })).toBe(0);
    await assistants.setLatest(assistant_id, 1, at(3));
    expect(await assistants.count({ metadata: { team: { id: 1 } } })).toBe(1);
  });
});

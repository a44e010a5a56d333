import { expect, test } from 'vitest';
import { parseFilter } from '../../src/auth/filters.ts';
import { ThreadSearch } from '../../src/schemas/threads.ts';
import { intersectVisibility, type Visibility } from '../../src/storage/access/visibility.ts';
import { runRepository } from '../../src/storage/runs/runs.ts';
import { storeItemRepository } from '../../src/storage/store/items.ts';
import { itemPasses } from '../../src/storage/store/visibility.ts';
import { threadRepository } from '../../src/storage/threads/threads.ts';
import { describeEachStorage } from '../support/databases.ts';
import { queueStory } from '../support/queued-runs.ts';
import { RandomJson } from '../support/random-json.ts';
import { at, freshThread, threadId } from '../support/stored-threads.ts';

type Row = Record<string, unknown>;

const FIELDS = ['owner', 'members', 'team', 'a.b', "it's", ''];
const VALUES = ['ann', 'ben', 'Ann', '', 'a"b', '%', 1, 0, true, false, null];
const ROWS = 60;
const ROUNDS = 60;

/** What handlers of LangGraph mean by a filter, in the words of its own server: the test's second opinion. */
function means(row: Row, filter: Row): boolean {
  return Object.entries(filter).every(([field, wanted]) => {
    if (field === '$and') return (wanted as Row[]).every((each) => means(row, each));
    if (field === '$or') return (wanted as Row[]).some((each) => means(row, each));
    const value = Object.hasOwn(row, field) ? row[field] : undefined;
    if (typeof wanted !== 'object' || wanted === null) return value === wanted;
    return Object.entries(wanted).every(([operator, operand]) =>
      operator === '$eq'
        ? value === operand
        : Array.isArray(value) && [operand].flat().every((each) => value.includes(each)),
    );
  });
}

function randomRow(random: RandomJson): Row {
  const fields = FIELDS.filter(() => random.below(2) === 0);
  const list = () => Array.from({ length: random.below(4) }, () => random.one(VALUES));
  return Object.fromEntries(
    fields.map((field) => [field, random.one([() => random.one(VALUES), list, () => ({ owner: 'ann' })])()]),
  );
}

function randomFilter(random: RandomJson, levels = 2): Row {
  if (levels > 0 && random.below(3) === 0) {
    const several = Array.from({ length: random.below(4) }, () => randomFilter(random, levels - 1));
    return { [random.one(['$or', '$and'])]: several };
  }
  const wanted = random.one([
    () => random.one(VALUES),
    () => ({ $eq: random.one(VALUES) }),
    () => ({ $contains: random.one(VALUES) }),
    () => ({ $contains: [random.one(VALUES), random.one(VALUES)] }),
  ])();
  const rest = random.below(3) === 0 ? randomFilter(random, 0) : {};
  return { ...rest, [random.one(FIELDS)]: wanted };
}

describeEachStorage('owner rules', (open) => {
  test('apply to every list, count and lookup: no excluded row is returned, and no other is missing', async () => {
    await using db = await open();
    const threads = threadRepository(db);
    const runs = runRepository(db);
    const story = queueStory(db);
    const random = new RandomJson(7);
    const rows = Array.from({ length: ROWS }, () => randomRow(random));
    await Promise.all(rows.map((metadata, n) => threads.insert(freshThread(n, { metadata }))));
    const run_ids: string[] = [];
    for (let n = 0; n < ROWS; n++) run_ids.push(await story.add(threadId(n)));
    const query = ThreadSearch.parse({ limit: 1000, sort_by: 'thread_id', sort_order: 'asc' });

    for (let round = 0; round < ROUNDS; round++) {
      const filter = randomFilter(random);
      const visibility = { metadata: parseFilter(filter) };
      const expected = rows.flatMap((row, n) => (means(row, filter) ? [threadId(n)] : []));
      const told = JSON.stringify(filter);
      const found = await threads.search(query, visibility);
      expect(
        found.map(({ thread_id }) => thread_id),
        told,
      ).toEqual(expected);
      expect(await threads.count({}, visibility), told).toBe(expected.length);
      const in_flight = await story.queue.inFlight('all', 1000, visibility);
      expect(in_flight.map(({ thread_id }) => thread_id).sort(), told).toEqual(expected);

      const n = random.below(ROWS);
      const [id, run_id] = [threadId(n), run_ids[n] as string];
      const isVisible = expected.includes(id);
      expect((await threads.get(id, ['thread_id'], visibility)) !== undefined, told).toBe(isVisible);
      expect(await threads.countByIds([id], visibility), told).toBe(Number(isVisible));
      expect(await threads.checkVisibility(id, visibility), told).toBe(isVisible ? 'visible' : 'hidden');
      expect((await runs.get(undefined, run_id, visibility)) !== undefined, told).toBe(isVisible);
      expect((await runs.list(id, { limit: 1, offset: 0 }, visibility)).length, told).toBe(Number(isVisible));
      expect(await runs.exist(id, [run_id], visibility), told).toBe(isVisible);
      const touched = await threads.update(id, {}, at(round), visibility);
      expect(touched !== undefined, told).toBe(isVisible);
      const copy = { source_id: id, target_id: threadId(1000 + round), at: at(round), visibility };
      const copied = await threads.copy(copy);
      expect(copied !== undefined, told).toBe(isVisible);
      if (copied) await threads.delete(copied.thread_id);
      if (!isVisible) expect(await threads.delete(id, visibility), told).toBeUndefined();
    }
    expect(await threads.count({})).toBe(ROWS);
  });

  test('that allow no row at all find none', async () => {
    await using db = await open();
    const threads = threadRepository(db);
    await threads.insert(freshThread(0));
    const run_id = await queueStory(db).add(threadId(0));
    const rules = intersectVisibility({ ids: [threadId(0)] }, { ids: [threadId(1)] }) as Visibility;
    expect(await threads.search(ThreadSearch.parse({}), rules)).toEqual([]);
    expect(await threads.count({}, rules)).toBe(0);
    expect(await threads.get(threadId(0), ['thread_id'], rules)).toBeUndefined();
    expect(await threads.checkVisibility(threadId(0), rules)).toBe('hidden');
    expect(await runRepository(db).get(undefined, run_id, rules)).toBeUndefined();
    expect(await runRepository(db).list(threadId(0), { limit: 1, offset: 0 }, rules)).toEqual([]);
    expect(await threads.delete(threadId(0), rules)).toBeUndefined();
  });

  test('apply to the store: namespaces, keys and values', async () => {
    await using db = await open();
    const items = storeItemRepository(db);
    const random = new RandomJson(11);
    const labels = ['ann', 'ben', 'team'];
    const stored = Array.from({ length: ROWS }, (_, n) => {
      const namespace = [random.one(labels), random.one(labels), `n${n}`];
      return { namespace, key: random.one(labels), value: randomRow(random) };
    });
    const write = { ttl_minutes: null, index_rule: null, embedded: undefined };
    await items.apply(stored.map((item) => ({ ...item, ...write })));
    const subject = ['namespace', 'key', ...FIELDS];

    for (let round = 0; round < ROUNDS; round++) {
      const wanted = random.one([...labels, ...VALUES]);
      const filter = random.one([
        () => randomFilter(random),
        () => ({ [random.one(subject)]: wanted }),
        () => ({ [random.one(subject)]: { $contains: wanted } }),
        () => ({ $or: [{ namespace: { $contains: wanted } }, randomFilter(random, 1)] }),
      ])();
      const visibility = { metadata: parseFilter(filter) };
      const expected = stored.filter(({ namespace, key, value }) =>
        means({ ...value, namespace, key }, filter),
      );
      const told = JSON.stringify(filter);
      const scope = { namespace_prefix: [], conditions: [], limit: 1000, offset: 0, visibility };
      const found = await items.search(scope, undefined, false);
      const names = (given: readonly { namespace: readonly string[] }[]) =>
        given.map(({ namespace }) => namespace.join('.')).sort();
      expect(names(found), told).toEqual(names(expected));
      const spaces = await items.namespaces({ limit: 1000, offset: 0 }, visibility);
      expect(spaces.map((each) => each.join('.')).sort(), told).toEqual(names(expected));
      expect(stored.filter((item) => itemPasses(item, visibility.metadata))).toEqual(expected);
      const one = random.one(stored);
      const got = await items.get(one, false, visibility);
      expect(got !== undefined, told).toBe(expected.includes(one));
    }
  });
});

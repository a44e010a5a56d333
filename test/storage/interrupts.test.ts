import { expect, test } from 'vitest';
import type { Db } from '../../src/db/db.ts';
import { type Sql, sql } from '../../src/db/sql.ts';
import { EXAMINED_ROWS } from '../../src/storage/search/keyset-page.ts';
import {
  type InterruptPosition,
  type InterruptQuery,
  interruptRepository,
} from '../../src/storage/threads/interrupts.ts';
import { describeEachDatabase, describeEachStorage } from '../support/databases.ts';
import { seedInterrupts } from '../support/seeded-interrupts.ts';
import { seededThreadId, seedThreads } from '../support/seeded-threads.ts';

/** The ids of a whole list, page by page. */
async function idsOf(db: Db, query: Partial<InterruptQuery> = {}) {
  const { search } = interruptRepository(db);
  const ids: string[] = [];
  let after: InterruptPosition | undefined;
  let pages = 0;
  do {
    const page = await search({ limit: 4, order: 'desc', ...query, after });
    ids.push(...page.found.map(({ interrupt }) => interrupt.id));
    after = page.next;
    pages += 1;
  } while (after);
  return { ids, pages };
}

describeEachStorage('a search of interrupts', (open) => {
  test('returns each of them once, in both orders, and the count matches', async () => {
    await using db = await open();
    await seedThreads(db, 700);
    const ids = (await seedInterrupts(db, 3)).sort();
    const newest = (await idsOf(db)).ids;
    expect(newest.toSorted()).toEqual(ids);
    const oldest = (await idsOf(db, { order: 'asc' })).ids;
    const threadOf = (id: string) => id.split(':')[0];
    expect([...new Set(oldest.map(threadOf))]).toEqual([...new Set(newest.map(threadOf))].reverse());
    const { count } = interruptRepository(db);
    expect(await count({})).toBe(ids.length);
    const own = { metadata: { contains: { project: { region: 'eu' } } } };
    // Of the seven that wait, 207 and 507.
    expect(await count({}, own)).toBe(6);
    expect(await count({ thread_metadata: { tags: ['tag-7'] } })).toBe(3);
    expect(await count({}, { ids: [seededThreadId(107), seededThreadId(108)] })).toBe(3);
    expect(await count({}, { ids: [] })).toBe(0);
  });

  test('counts large ones in parts', async () => {
    await using db = await open();
    await seedThreads(db, 700);
    const ids = await seedInterrupts(db, 3);
    const sizes: number[] = [];
    const watched: Db = Object.assign(Object.create(db), {
      async all(query: Sql) {
        const rows = (await db.all(query)) as { interrupts?: string }[];
        const read = rows.map(({ interrupts }) => interrupts ?? '');
        if (read.join('') !== '') sizes.push(Buffer.byteLength(read.join('')));
        return rows;
      },
    });
    const { count } = interruptRepository(watched);
    expect(await count({})).toBe(ids.length);
    const [all = 0, ...others] = sizes.splice(0);
    expect(others).toEqual([]);
    const max_bytes = Math.ceil(all / 2);
    expect(await count({}, undefined, { max_bytes })).toBe(ids.length);
    expect(sizes.length).toBeGreaterThan(1);
    expect(Math.max(...sizes)).toBeLessThanOrEqual(max_bytes);
    expect(await count({}, undefined, { max_bytes: 1 })).toBe(ids.length);
  });

  test('counts those of a bounded number of threads, newest first', async () => {
    await using db = await open();
    await seedThreads(db, 700);
    const ids = await seedInterrupts(db, 3);
    const { count } = interruptRepository(db);
    expect(await count({}, undefined, { max_threads: 2 })).toBe(6);
    expect(await count({}, undefined, { max_threads: 7 })).toBe(ids.length);
  });

  test('finds and counts those with a deadline, whether or not they are encrypted', async () => {
    await using db = await open();
    await seedThreads(db, 700);
    const [id = ''] = await seedInterrupts(db, 3);
    const [thread_id = ''] = id.split(':');
    const asked = {
      t: [
        { id: 'due', value: { deadline: '2026-03-01T09:00:00+01:00' } },
        { id: 'open', value: 1 },
      ],
    };
    const interrupts = db.cipher.encryptJson('threads.interrupts', JSON.stringify(asked));
    await db.run(sql`update threads set interrupts = ${interrupts} where thread_id = ${thread_id}`);
    const range = { deadline_from: '2026-03-01T08:00:00.000Z', deadline_to: '2026-03-01T08:00:00.001Z' };
    expect((await idsOf(db, { ...range, limit: 1 })).ids).toEqual(['due']);
    const { count } = interruptRepository(db);
    expect(await count(range)).toBe(1);
    expect(await count({ deadline_from: range.deadline_to })).toBe(0);
    expect(await count({ ...range, thread_metadata: { user: 'nobody' } })).toBe(0);
  });

  test('counts those of the newest threads at a bounded cost', async () => {
    await using db = await open();
    await seedThreads(db, 700);
    await seedInterrupts(db, 3);
    const { countNewest } = interruptRepository(db);
    expect(await countNewest()).toEqual({ waiting: 21, more: false });
    await db.run(sql`update threads set status = 'interrupted', interrupts = (
      select interrupts from threads where status = 'interrupted' limit 1)`);
    expect(await countNewest()).toEqual({ waiting: 1500, more: true });
  });

  test('skips threads that stopped without one', async () => {
    await using db = await open();
    await seedThreads(db, 300);
    const ids = (await seedInterrupts(db, 1)).sort();
    const stopped = db.cipher.encryptJson('threads.interrupts', '{}');
    await db.run(sql`update threads set interrupts = ${stopped} where thread_id = ${seededThreadId(107)}`);
    const left = ids.filter((id) => !id.startsWith(seededThreadId(107)));
    expect((await idsOf(db, { limit: 1 })).ids.sort()).toEqual(left);
    expect(await interruptRepository(db).count({})).toBe(2);
  });
});

describeEachDatabase('a search of interrupts', (open) => {
  test('examines a bounded number of threads for each page', async () => {
    await using db = await open();
    await seedThreads(db, EXAMINED_ROWS + 2000);
    await db.run(
      sql`update threads set status = 'interrupted', interrupts = '{"t": [{"id": "i", "value": 1}]}'`,
    );
    const assistant_id = '00000000-0000-4000-8000-000000000001';
    const { ids, pages } = await idsOf(db, { assistant_id });
    expect(ids).toEqual([]);
    // SQLite looks at the newest run of each; PostgreSQL reads them at once.
    expect(pages).toBe(db.dialect === 'sqlite' ? 2 : 1);

    await db.run(sql`update threads set interrupts = '{"t": [{"id": "i", "value": {"deadline": "soon"}}]}'`);
    const due = await idsOf(db, { deadline_from: '2026-03-01T08:00:00.000Z', limit: 99 });
    // A page reads the interrupts of a thousand.
    expect(due).toEqual({ ids: [], pages: Math.ceil((EXAMINED_ROWS + 2000) / 1100) });
  });
});

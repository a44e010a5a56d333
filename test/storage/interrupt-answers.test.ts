import { expect, test } from 'vitest';
import type { Db } from '../../src/db/db.ts';
import { EXAMINED_ROWS } from '../../src/storage/search/keyset-page.ts';
import { type AnswerQuery, interruptAnswerRepository } from '../../src/storage/threads/interrupt-answers.ts';
import { describeEachDatabase, describeEachStorage } from '../support/databases.ts';
import { seedAnswers } from '../support/seeded-answers.ts';
import { seededAssistantId, seededRunId, seededRunTime, seedRuns } from '../support/seeded-runs.ts';
import { seededThreadId, seedThreads } from '../support/seeded-threads.ts';

/** The runs of a whole list, page by page. */
async function runsOf(
  db: Db,
  query: Partial<AnswerQuery> = {},
  visibility?: Parameters<Search>[1],
): Promise<string[]> {
  const { search } = interruptAnswerRepository(db);
  const runs: string[] = [];
  let after: AnswerQuery['after'];
  do {
    const page = await search({ limit: 7, order: 'desc', ...query, after }, visibility);
    runs.push(...page.found.map(({ run_id }) => run_id));
    after = page.next;
  } while (after);
  return runs;
}

type Search = ReturnType<typeof interruptAnswerRepository>['search'];

const numbered = (wanted: (n: number) => boolean, count = 40) =>
  Array.from({ length: count }, (_, n) => n)
    .filter(wanted)
    .map(seededRunId)
    .reverse();

describeEachStorage('a search of answers', (open) => {
  test('returns each of them once, in both orders, by each condition', async () => {
    await using db = await open();
    await seedThreads(db, 20);
    await seedRuns(db, 40, 20);
    await seedAnswers(db);
    const all = numbered(() => true);
    expect(await runsOf(db)).toEqual(all);
    expect(await runsOf(db, { order: 'asc' })).toEqual(all.toReversed());
    const within = { created_from: seededRunTime(5), created_to: seededRunTime(15) };
    expect(await runsOf(db, within)).toEqual(numbered((n) => n >= 5 && n < 15));
    const second = seededAssistantId(9);
    expect(await runsOf(db, { assistant_id: second })).toEqual(numbered((n) => n % 10 === 9));
    const thread_id = seededThreadId(0);
    expect(await runsOf(db, { thread_id })).toEqual(numbered((n) => n % 20 === 0));
    const interrupt_id = seededRunId(3);
    expect(await runsOf(db, { interrupt_id })).toEqual([interrupt_id]);
    expect(await runsOf(db, { thread_id, interrupt_id })).toEqual([]);
    expect(await runsOf(db, { user_id: 'ann' })).toEqual(all);
    expect(await runsOf(db, { user_id: 'bob' })).toEqual([]);
  });

  test('returns only those of threads that the caller may see', async () => {
    await using db = await open();
    await seedThreads(db, 20);
    await seedRuns(db, 40, 20);
    await seedAnswers(db);
    const ids = [seededThreadId(0), seededThreadId(1)];
    const own = await runsOf(db, {}, { ids });
    expect(own).toHaveLength(4);
    expect(await runsOf(db, { thread_id: seededThreadId(2) }, { ids })).toEqual([]);
    expect(await runsOf(db, {}, { ids: [] })).toEqual([]);
    const metadata = { contains: { user: 'user-3' } };
    expect(await runsOf(db, {}, { metadata })).toEqual(
      await runsOf(db, { thread_metadata: { user: 'user-3' } }),
    );
    expect(await runsOf(db, { thread_metadata: { user: 'user-3' } }, { ids: [seededThreadId(4)] })).toEqual(
      [],
    );
  });
});

describeEachDatabase('a search of answers', (open) => {
  test('examines a bounded number of them for each page', async () => {
    await using db = await open();
    await seedThreads(db, 20);
    await seedRuns(db, EXAMINED_ROWS + 2000, 20);
    await seedAnswers(db);
    const { search } = interruptAnswerRepository(db);
    const first = await search({ user_id: 'bob', limit: 10, order: 'desc' });
    expect(first.found).toEqual([]);
    expect(first.next !== undefined).toBe(db.dialect === 'sqlite');
  });
});

import { expect, test } from 'vitest';
import { raw } from '../../src/db/sql.ts';
import type { RunConditions } from '../../src/storage/runs/run-list.ts';
import { type RunQuery, runSearchRepository } from '../../src/storage/runs/search.ts';
import { EXAMINED_ROWS, type Keyset } from '../../src/storage/search/keyset-page.ts';
import { describeEachDatabase, describeEachStorage, describeEncrypted } from '../support/databases.ts';
import { newRun, queueStory, request, successful } from '../support/queued-runs.ts';
import { seededAssistantId, seededRunId, seededRunTime, seedRuns } from '../support/seeded-runs.ts';
import { seededThreadId, seedThreads } from '../support/seeded-threads.ts';

const RUNS = 400;
const THREADS = 40;
const ALL = Array.from({ length: RUNS }, (_, n) => n).reverse();
const threadOf = (n: number) => (n * 7919) % THREADS;

type Search = ReturnType<typeof runSearchRepository>['search'];

/** The ids of a whole list, page by page. */
async function idsOf(search: Search, query: Partial<RunQuery>, visibility?: Parameters<Search>[1]) {
  const ids: string[] = [];
  let after: Keyset | undefined;
  let pages = 0;
  do {
    const page = await search({ limit: 7, ...query, after }, visibility);
    ids.push(...page.found.map(({ run_id }) => run_id));
    after = page.next;
    pages += 1;
  } while (after);
  return { ids, pages };
}

describeEachDatabase('a search of runs over all threads', (open) => {
  test('finds by each condition, newest first, and the count matches', async () => {
    await using db = await open();
    await seedThreads(db, THREADS);
    await seedRuns(db, RUNS, THREADS);
    const { search, count } = runSearchRepository(db);
    const isFailed = (n: number) => n % 100 === 3;
    const isTimeout = (n: number) => n % 200 === 7;
    // The newest run of the only thread that waits.
    const waits = ALL.find((n) => threadOf(n) === 7);
    const cases: [RunConditions, (n: number) => boolean][] = [
      [{}, () => true],
      [{ statuses: ['error'] }, isFailed],
      [{ statuses: ['error', 'timeout'] }, (n) => isFailed(n) || isTimeout(n)],
      [{ statuses: ['success'] }, (n) => !isFailed(n) && n % 100 !== 7],
      [{ statuses: ['success', 'error'] }, (n) => n % 100 !== 7],
      [{ statuses: ['pending', 'running'] }, () => false],
      [{ assistant_id: seededAssistantId(9) }, (n) => n % 10 === 9],
      [{ assistant_id: seededAssistantId(9), statuses: ['success'] }, (n) => n % 10 === 9],
      [{ thread_metadata: { user: 'user-2' } }, (n) => Math.floor(threadOf(n) / 10) === 2],
      [
        { thread_metadata: { tags: ['odd'] }, statuses: ['error'] },
        (n) => threadOf(n) % 2 === 1 && isFailed(n),
      ],
      [{ thread_metadata: {} }, () => true],
      [{ metadata: { kind: 'kind-1' } }, (n) => n % 3 === 1],
      [{ metadata: { ticket: 'ticket-5' }, thread_metadata: { graph_id: 'echo' } }, (n) => n === 5],
      [{ error: 'typeerror: no TOOL 1' }, (n) => isFailed(n) && String(n).startsWith('1')],
      [{ error: '%' }, () => false],
      [{ created_from: seededRunTime(10), created_to: seededRunTime(20) }, (n) => n >= 10 && n < 20],
      [{ ended_from: seededRunTime(0), ended_to: seededRunTime(RUNS + 60) }, () => true],
      [{ waiting: true }, (n) => n === waits],
      [{ waiting: true, assistant_id: seededAssistantId(9) }, () => false],
      [{ waiting: true, statuses: ['error'] }, () => false],
      [{ waiting: false, statuses: ['success'] }, (n) => !isFailed(n) && n % 100 !== 7 && n !== waits],
      [{ thread_id: seededThreadId(3), statuses: ['success'] }, (n) => threadOf(n) === 3 && !isFailed(n)],
      [
        { statuses: ['error', 'timeout'], ended_from: seededRunTime(100), ended_to: seededRunTime(300) },
        (n) => n >= 100 && n < 300 && (isFailed(n) || isTimeout(n)),
      ],
    ];
    for (const [conditions, isWanted] of cases) {
      const wanted = ALL.filter(isWanted).map(seededRunId);
      const { ids } = await idsOf(search, conditions);
      expect([conditions, ids]).toEqual([conditions, wanted]);
      expect([conditions, await count(conditions)]).toEqual([conditions, wanted.length]);
    }
  });

  test('sees and counts only runs of visible threads', async () => {
    await using db = await open();
    await seedThreads(db, THREADS);
    await seedRuns(db, RUNS, THREADS);
    const { search, count } = runSearchRepository(db);
    const own = { metadata: { contains: { user: 'user-1' } } };
    const isOwn = (n: number) => Math.floor(threadOf(n) / 10) === 1;
    expect((await idsOf(search, {}, own)).ids).toEqual(ALL.filter(isOwn).map(seededRunId));
    expect(await count({}, own)).toBe(RUNS / 4);
    expect(await count({ statuses: ['error'] }, own)).toBe(
      ALL.filter((n) => isOwn(n) && n % 100 === 3).length,
    );
    expect(await count({ thread_metadata: { user: 'user-2' } }, own)).toBe(0);
    const one = { ids: [seededThreadId(3)] };
    expect((await idsOf(search, {}, one)).ids).toEqual(ALL.filter((n) => threadOf(n) === 3).map(seededRunId));
    expect(await count({}, { ids: [] })).toBe(0);
  });

  test('returns each run once while runs are added', async () => {
    await using db = await open();
    const { add } = queueStory(db);
    const { search } = runSearchRepository(db);
    for (let second = 0; second < 5; second += 1) {
      const run = { ...newRun(seededThreadId(second)), created_at: seededRunTime(second) };
      await queueStory(db).queue.enqueue(request(run));
    }
    const first = await search({ limit: 2 });
    await add(seededThreadId(9));
    await add(seededThreadId(1));
    const rest = await search({ limit: 10, after: first.next });
    const times = [...first.found, ...rest.found].map(({ created_at }) => created_at);
    expect(times).toEqual([4, 3, 2, 1, 0].map(seededRunTime));
    expect(rest.next).toBeUndefined();
  });

  test('returns runs with equal times once, ordered by id', async () => {
    await using db = await open();
    await seedThreads(db, THREADS);
    await seedRuns(db, 30, 10);
    await db.run(
      raw(
        `update runs set created_at = '${seededRunTime(0)}' where assistant_id <> '${seededAssistantId(9)}'`,
      ),
    );
    const { search } = runSearchRepository(db);
    const sameTime = Array.from({ length: 30 }, (_, n) => n).filter((n) => n % 10 !== 9);
    const wanted = [29, 19, 9, ...sameTime.toReversed()].map(seededRunId);
    for (const limit of [1, 4, 27]) {
      expect((await idsOf(search, { limit, thread_metadata: { user: 'user-0' } })).ids).toEqual(wanted);
      expect((await idsOf(search, { limit })).ids).toEqual(wanted);
    }
  });

  test('examines a bounded number of runs for each page', async () => {
    await using db = await open();
    const many = EXAMINED_ROWS + 6000;
    await seedRunsOfOneThread(db, many);
    const { search, count } = runSearchRepository(db);
    const { ids, pages } = await idsOf(search, { metadata: { ticket: 'ticket-1' }, limit: 1 });
    expect(ids).toEqual([seededRunId(1)]);
    // SQLite examines the newest in vain; PostgreSQL finds it at once.
    expect(pages).toBe(db.dialect === 'sqlite' ? Math.ceil(many / EXAMINED_ROWS) : 1);
    expect(await count({ metadata: { ticket: 'ticket-1' } })).toBe(1);
    const ofKind = Math.floor((many + 1) / 3);
    expect(await count({ metadata: { kind: 'kind-1' } })).toBe(ofKind);
    expect(await count({ metadata: { kind: 'kind-1' }, thread_metadata: { graph_id: 'echo' } })).toBe(ofKind);
    const own = { metadata: { contains: { user: 'user-0' } } };
    expect(await count({}, own)).toBe(many);
    expect((await search({ limit: 1 }, own)).found).toMatchObject([{ run_id: seededRunId(many - 1) }]);
    expect(await count({ statuses: ['error'] }, own)).toBe(many / 100);
  });

  test('finds the runs of a graph through its assistants', async () => {
    await using db = await open();
    await seedThreads(db, THREADS);
    await seedRuns(db, RUNS, THREADS);
    const { search, count } = runSearchRepository(db);
    const graph = async (assistant_id: string, graph_id: string) =>
      db.run(
        raw(`insert into assistants (assistant_id, graph_id, name, config, context, metadata, version, created_at, updated_at)
        values ('${assistant_id}', '${graph_id}', 'x', '{}', '{}', '{}', 1, '${seededRunTime(0)}', '${seededRunTime(0)}')`),
      );
    await graph(seededAssistantId(0), 'two');
    await graph(seededAssistantId(500), 'two');
    await graph(seededAssistantId(9), 'one');
    expect(await count({ graph_id: 'one' })).toBe(RUNS / 10);
    expect((await idsOf(search, { graph_id: 'two' })).ids).toHaveLength((RUNS * 9) / 10);
    expect(await count({ graph_id: 'none' })).toBe(0);
    expect(await search({ graph_id: 'none', limit: 1 })).toEqual({ found: [], next: undefined });
    expect(await count({ graph_id: 'one', assistant_id: seededAssistantId(0) })).toBe(0);
  });
});

async function seedRunsOfOneThread(db: Parameters<typeof seedRuns>[0], count: number): Promise<void> {
  await seedThreads(db, 1);
  await seedRuns(db, count, 1);
}

describeEachStorage('a run in a list over all threads', (open) => {
  test('has its error and times, and its kwargs only if they are selected', async () => {
    await using db = await open();
    const { queue, add } = queueStory(db);
    const { search } = runSearchRepository(db);
    const run_id = await add(seededThreadId(1));
    const waiting = await add(seededThreadId(1));
    const [claimed] = await queue.claim({
      worker_id: crypto.randomUUID(),
      token: crypto.randomUUID(),
      limit: 1,
    });
    const error = { error: 'TypeError', message: 'No tool' };
    await queue.finish(claimed!.lease, successful({ status: 'error', error, at: seededRunTime(5) }));

    const [failed] = (await search({ limit: 2, statuses: ['error'] })).found;
    expect(failed).toMatchObject({
      run_id,
      status: 'error',
      error,
      ended_at: seededRunTime(5),
      metadata: {},
    });
    expect(failed).toHaveProperty('started_at', expect.any(String));
    expect(failed).not.toHaveProperty('kwargs');
    const [next] = (await search({ limit: 2, statuses: ['pending'], select: ['kwargs'] })).found;
    expect(next).toMatchObject({ run_id: waiting, error: null, started_at: null, ended_at: null });
    expect(next).toHaveProperty('kwargs.input', { n: 1 });
  });
});

describeEncrypted('a search of runs over all threads', (open) => {
  test('refuses to search encrypted errors', async () => {
    await using db = await open();
    expect(runSearchRepository(db).encrypts_errors).toBe(true);
  });
});

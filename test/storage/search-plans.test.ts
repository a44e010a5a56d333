import { expect, test } from 'vitest';
import type { Db, Reader } from '../../src/db/db.ts';
import { AssistantSearch } from '../../src/schemas/assistants.ts';
import { ThreadSearch } from '../../src/schemas/threads.ts';
import { searchAssistants } from '../../src/storage/assistants/search.ts';
import { runRepository } from '../../src/storage/runs/runs.ts';
import { countRuns, searchRuns } from '../../src/storage/runs/search.ts';
import { countThreads, searchThreads } from '../../src/storage/threads/search.ts';
import { describeEachDatabase } from '../support/databases.ts';
import { explaining } from '../support/query-plans.ts';
import { seededAssistantId, seededRunTime, seedRuns } from '../support/seeded-runs.ts';
import { seededThreadId, seedThreads } from '../support/seeded-threads.ts';

/** How the database answered: the plan of each query. */
async function plansOf(db: Db, ask: (reader: Reader) => Promise<unknown>): Promise<string> {
  const reader = explaining(db);
  await ask(reader);
  return reader.plans.join('\n\n');
}

const WHOLE_TABLE = /SCAN threads$|SCAN threads\n|Seq Scan on threads/;
const SORTED = /TEMP B-TREE FOR ORDER BY|Sort Key/;

describeEachDatabase('the plan of a search', (open) => {
  test('uses an index for each filter and order', async () => {
    await using db = await open();
    await seedThreads(db, 4000);
    const search = (query: object) =>
      plansOf(db, (reader) => searchThreads(reader, ThreadSearch.parse(query)));

    const metadataIndex =
      /threads_metadata_terms USING PRIMARY KEY \(term=\?\)|Bitmap Index Scan on threads_metadata/;
    for (const metadata of [{ user: 'user-3' }, { project: { id: 3 } }, { tags: ['tag-3'] }]) {
      const plan = await search({ metadata });
      expect(plan).toMatch(metadataIndex);
      expect(plan).not.toMatch(WHOLE_TABLE);
      const count = await plansOf(db, (reader) => countThreads(reader, { metadata }));
      expect(count).toMatch(metadataIndex);
      expect(count).not.toMatch(WHOLE_TABLE);
    }

    for (const [sort_by, index] of [
      ['updated_at', 'threads_updated'],
      ['created_at', 'threads_created'],
      ['state_updated_at', 'threads_state_updated'],
      ['thread_id', /sqlite_autoindex_threads_1|threads_pkey/],
    ] as const) {
      for (const query of [
        { sort_by },
        { sort_by, sort_order: 'asc' },
        { sort_by, metadata: { graph_id: 'echo' } },
      ]) {
        const plan = await search(query);
        expect(plan).toMatch(index);
        expect(plan).not.toMatch(SORTED);
        expect(plan).not.toMatch(/Seq Scan on threads/);
      }
    }

    expect(await search({ status: 'error' })).toMatch('threads_status');
    expect(await search({ status: 'busy' })).toMatch('run_queue');
    expect(await search({ status: 'idle' })).not.toMatch(SORTED);
    expect(await search({ ids: [seededThreadId(3)], sort_by: 'created_at' })).not.toMatch(/threads_created/);
  });

  test('uses an index for values, and reads a state only if its summary is not enough', async () => {
    await using db = await open();
    await seedThreads(db, 2000);
    const plan = await plansOf(db, (reader) => countThreads(reader, { values: { topic: 'topic-3' } }));
    expect(plan).toMatch(
      /threads_values_summary_terms USING PRIMARY KEY \(term=\?\)|Bitmap Index Scan on threads_values_summary/,
    );
    expect(plan).not.toMatch(WHOLE_TABLE);
    expect(plan).not.toMatch(/SCAN thread_values|Seq Scan on thread_values/);
  });

  test('uses an index to count a status', async () => {
    await using db = await open();
    await seedThreads(db, 2000);
    const plan = await plansOf(db, (reader) => countThreads(reader, { status: 'interrupted' }));
    expect(plan).toMatch('threads_status');
    expect(plan).not.toMatch(WHOLE_TABLE);
  });

  test('uses an index for each order of assistants', async () => {
    await using db = await open();
    for (const sort_by of ['assistant_id', 'created_at', 'updated_at', 'name', 'graph_id']) {
      const query = AssistantSearch.parse({ sort_by });
      expect(await plansOf(db, (reader) => searchAssistants(reader, query))).not.toMatch('TEMP B-TREE');
      const filtered = AssistantSearch.parse({ sort_by, name: 'x' });
      expect(await plansOf(db, (reader) => searchAssistants(reader, filtered))).not.toMatch('TEMP B-TREE');
    }
  });

  test('uses an index for the runs of a thread, and for failed ones', async () => {
    await using db = await open();
    for (const [status, index] of [
      [undefined, 'runs_thread'],
      ['success', 'runs_thread'],
      ['error', /runs_thread|runs_ended_badly/],
      ['running', /run_queue_thread|run_queue/],
    ] as const) {
      const reader = explaining(db);
      const runs = runRepository({ ...db, all: reader.all, get: reader.get });
      await runs.list(seededThreadId(1), { limit: 10, offset: 0, status });
      expect(reader.plans.join()).toMatch(index);
    }
  });

  test('uses an index for each order of the runs of all threads', async () => {
    await using db = await open();
    await seedThreads(db, 400);
    await seedRuns(db, 4000, 400);
    for (const [query, index] of [
      [{}, 'runs_created'],
      [{ created_to: seededRunTime(100) }, 'runs_created'],
      [{ statuses: ['error', 'timeout'] }, 'runs_failed_created'],
      [{ assistant_id: seededAssistantId(9) }, 'runs_assistant_created'],
      [{ thread_metadata: { graph_id: 'echo' } }, 'runs_created'],
    ] as const) {
      const plan = await plansOf(db, (reader) => searchRuns(reader, { ...query, limit: 10 }));
      expect([query, plan]).toEqual([query, expect.stringContaining(index)]);
      expect([query, plan]).toEqual([query, expect.not.stringMatching(SORTED)]);
    }
    const ofUser = { thread_metadata: { user: 'user-3' }, limit: 10 };
    const plan = await plansOf(db, (reader) => searchRuns(reader, ofUser));
    expect(plan).toMatch(/threads_metadata_terms|threads_metadata|runs_created/);
    const waiting = { statuses: ['pending'] as const, limit: 10 };
    expect(await plansOf(db, (reader) => searchRuns(reader, waiting))).toMatch('run_queue');
    const failed = await plansOf(db, (reader) => countRuns(reader, { statuses: ['error'] }));
    expect(failed).toMatch('runs_failed_created');
  });
});

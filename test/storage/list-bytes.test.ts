import { expect, test } from 'vitest';
import { InvalidInput } from '../../src/core/errors.ts';
import type { Db } from '../../src/db/db.ts';
import { type Assistant, AssistantSearch } from '../../src/schemas/assistants.ts';
import { CronSearch } from '../../src/schemas/crons.ts';
import { ThreadSearch } from '../../src/schemas/threads.ts';
import { assistantRepository } from '../../src/storage/assistants/assistants.ts';
import { cronRepository } from '../../src/storage/crons/crons.ts';
import { runSearchRepository } from '../../src/storage/runs/search.ts';
import { storeItemRepository } from '../../src/storage/store/items.ts';
import { interruptRepository } from '../../src/storage/threads/interrupts.ts';
import { threadRepository } from '../../src/storage/threads/threads.ts';
import { describeEachDatabase, describeEachStorage } from '../support/databases.ts';
import { failure } from '../support/naming.ts';
import { KWARGS, newRun, queueStory, request } from '../support/queued-runs.ts';
import { storeOver } from '../support/store.ts';
import { storedCron } from '../support/stored-crons.ts';
import { at, freshThread, newState, threadId } from '../support/stored-threads.ts';

const TEXT = 'x'.repeat(10_000);
/** Less than three texts, more than two. */
const MAX_BYTES = 29_000;
const ASSISTANT: Assistant = {
  assistant_id: threadId(9),
  graph_id: 'echo',
  name: 'Untitled',
  description: null,
  config: {},
  context: { text: TEXT },
  metadata: {},
  version: 1,
  created_at: at(0),
  updated_at: at(0),
};

/** Lists that have three of what is large, by what a list is of: with a limit of rows, and of bytes. */
const LISTS: Record<string, (db: Db) => Promise<(limit: number, max_bytes?: number) => Promise<unknown[]>>> =
  {
    async threads(db) {
      const threads = threadRepository(db);
      for (const n of [1, 2, 3]) {
        await threads.insert(freshThread(n));
        await threads.setState(threadId(n), newState({ text: TEXT }), at(n));
      }
      return (limit, max_bytes) => threads.search(ThreadSearch.parse({ limit }), undefined, max_bytes);
    },
    async interrupts(db) {
      const threads = threadRepository(db);
      for (const n of [1, 2, 3]) {
        await threads.insert(freshThread(n));
        const interrupts = { task: [{ id: `i${n}`, value: TEXT }] };
        await threads.setState(threadId(n), { values: {}, status: 'interrupted', interrupts }, at(n));
      }
      const { search } = interruptRepository(db);
      // It reads the row behind its page by itself.
      return async (limit, max_bytes) =>
        (await search({ order: 'asc', limit: limit - 1 }, undefined, max_bytes)).found;
    },
    async assistants(db) {
      const assistants = assistantRepository(db);
      for (const n of [1, 2, 3]) await assistants.insert({ ...ASSISTANT, assistant_id: threadId(n) });
      return (limit, max_bytes) => assistants.search(AssistantSearch.parse({ limit }), undefined, max_bytes);
    },
    async versions(db) {
      const assistants = assistantRepository(db);
      await assistants.insert(ASSISTANT);
      for (const n of [2, 3]) await assistants.update(ASSISTANT.assistant_id, () => ({}), at(n));
      return (limit, max_bytes) =>
        assistants.versions(ASSISTANT.assistant_id, { limit, offset: 0 }, max_bytes);
    },
    async crons(db) {
      const crons = cronRepository(db);
      for (const _ of [1, 2, 3]) await crons.insert(storedCron({ payload: { input: TEXT } }));
      return (limit, max_bytes) => crons.search(CronSearch.parse({ limit }), undefined, max_bytes);
    },
    async runs(db) {
      const { queue } = queueStory(db);
      for (const n of [1, 2, 3])
        await queue.enqueue(
          request({ ...newRun(threadId(n)), kwargs: { ...KWARGS, input: { text: TEXT } } }),
        );
      const { search } = runSearchRepository(db);
      return async (limit, max_bytes) =>
        (await search({ limit, select: ['run_id', 'kwargs'] }, undefined, max_bytes)).found;
    },
    async items(db) {
      await storeOver(db).apply(
        ['a', 'b', 'c'].map((key) => ({ namespace: ['notes'], key, value: { text: TEXT } })),
      );
      const all = { namespace_prefix: [], conditions: [], offset: 0 };
      return (limit, max_bytes) =>
        storeItemRepository(db).search({ ...all, limit }, undefined, false, { max_bytes });
    },
  };

describeEachDatabase('a list', (open) => {
  test.for(Object.entries(LISTS))(
    'of few %s that are too large for one response is refused',
    async ([what, fill]) => {
      await using db = await open();
      const list = await fill(db);
      const message = `^limit: these ${what} have \\d{5} bytes, but a response may have at most ${MAX_BYTES}\\. Lower the limit`;
      await expect(list(3, MAX_BYTES)).rejects.toThrow(new RegExp(message));
      expect(await list(3)).toHaveLength(what === 'interrupts' ? 2 : 3);
      // A page of one row must come, whatever its size, and the row behind it may be read for it.
      expect(await list(2, 1)).toHaveLength(what === 'interrupts' ? 1 : 2);
    },
  );
});

describeEachStorage('a list of threads', (open) => {
  test('is measured by what is selected and extracted', async () => {
    await using db = await open();
    const threads = threadRepository(db);
    for (const n of [1, 2, 3]) {
      await threads.insert(freshThread(n));
      await threads.setState(threadId(n), newState({ text: TEXT, title: 'short' }), at(n));
    }
    const search = (query: object) =>
      threads.search({ ...ThreadSearch.parse({}), ...query }, undefined, MAX_BYTES);
    expect(await search({ select: ['thread_id'] })).toHaveLength(3);
    const extracting = (path: string) => search({ select: ['thread_id'], parts: { part: [path] } });
    await expect(extracting('text')).rejects.toThrow(failure(InvalidInput, 'limit'));
    // With encryption, the server reads states as a whole.
    if (db.cipher.enabled) await expect(extracting('title')).rejects.toThrow(failure(InvalidInput, 'limit'));
    else expect(await extracting('title')).toHaveLength(3);
  });
});

import { expect, test } from 'vitest';
import { ThreadSearch } from '../../../src/schemas/threads.ts';
import { threadRepository } from '../../../src/storage/threads/threads.ts';
import { describeEncrypted } from '../../support/databases.ts';
import { testSealer } from '../../support/encryption.ts';
import { checkpointsOf, remember, STATE, within } from '../../support/remembered-threads.ts';
import { describeEachPlace } from '../../support/storage-places.ts';
import { at, foundThreads, freshThread, newState, threadId } from '../../support/stored-threads.ts';

describeEncrypted('the values of threads', (open) => {
  test('are found by their short members, and by nested values', async () => {
    await using db = await open();
    const threads = threadRepository(db);
    await threads.insert(freshThread(1));
    await threads.setState(threadId(1), newState(STATE), at(1));
    for (const values of [{ topic: 'fish' }, { tags: ['b'] }, { user: { age: 36.0 } }, { user: {} }]) {
      expect(await foundThreads(threads, { values })).toEqual([1]);
      expect(await threads.count({ values })).toBe(1);
    }
    for (const values of [{ topic: 'Fish' }, { tags: 'b' }, { user: { age: '36' } }, { log: STATE.log }]) {
      expect(await foundThreads(threads, { values })).toEqual([]);
    }
    await threads.setState(threadId(1), newState({ topic: 'meat' }), at(2));
    expect(await foundThreads(threads, { values: { topic: 'fish' } })).toEqual([]);
    expect(await foundThreads(threads, { values: { topic: 'meat' } })).toEqual([1]);
  });

  test('can be read in part', async () => {
    await using db = await open();
    const threads = threadRepository(db);
    await threads.insert(freshThread(1));
    await threads.setState(threadId(1), newState({ ...STATE, list: [{ n: 1 }, { n: 2 }] }), at(1));
    const parts = { last: ['list', -1, 'n'], name: ['user', 'name'], none: ['list', 'x'], log: ['log'] };
    const query = { ...ThreadSearch.parse({ select: ['thread_id'] }), parts };
    const [found] = await threads.search(query);
    expect(found?.parts).toEqual({ last: 2, name: 'Ada', none: null, log: STATE.log });
    expect(found).not.toHaveProperty('values');
  });
});

describeEachPlace('a thread from before encryption was enabled', (place) => {
  test('is read, found and continued', async () => {
    const url = await place();
    await within(url, undefined, (storage) => remember(storage, 1));

    await within(url, testSealer(), async (storage) => {
      const { threads } = storage;
      expect(await threads.get(threadId(1))).toMatchObject({ values: STATE, status: 'idle' });
      expect(await foundThreads(threads, { values: { topic: 'fish' } })).toEqual([1]);
      expect(await checkpointsOf(storage, threadId(1))).toEqual([{ thread_id: threadId(1), source: 'loop' }]);
      await threads.setState(threadId(1), newState({ topic: 'meat' }), at(2));
      expect(await foundThreads(threads, { values: { topic: 'fish' } })).toEqual([]);
      expect(await foundThreads(threads, { values: { topic: 'meat' } })).toEqual([1]);
    });
  });

  test('and one from after it are copied, and each copy has its own thread id', async () => {
    const url = await place();
    await within(url, undefined, (storage) => remember(storage, 1));

    await within(url, testSealer(), async (storage) => {
      await remember(storage, 2);
      for (const n of [1, 2]) {
        const [source_id, target_id] = [threadId(n), threadId(n + 10)];
        await storage.threads.copy({ source_id, target_id, at: at(3) });
        await storage.threads.copy({ source_id: target_id, target_id: threadId(n + 20), at: at(4) });
        for (const thread_id of [source_id, target_id, threadId(n + 20)]) {
          const named = { thread_id, source: 'loop' };
          expect(await checkpointsOf(storage, thread_id)).toEqual([named]);
          expect(await checkpointsOf(storage, thread_id, named)).toEqual([named]);
          expect(await checkpointsOf(storage, thread_id, { thread_id: 'other' })).toEqual([]);
        }
      }
    });
  });
});

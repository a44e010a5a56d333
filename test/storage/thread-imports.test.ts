import { expect, test } from 'vitest';
import { Conflict } from '../../src/core/errors.ts';
import type { Db } from '../../src/db/db.ts';
import { checkpointRepository } from '../../src/storage/checkpoints/checkpoints.ts';
import { threadRepository } from '../../src/storage/threads/threads.ts';
import { describeEachDatabase } from '../support/databases.ts';
import { at, freshThread, threadId } from '../support/stored-threads.ts';

const thread_id = threadId(1);
const [FIRST, SECOND] = ['01a00000-0000-4000-8000-000000000001', '01a00000-0000-4000-8000-000000000002'];

const put = (db: Db, checkpoint_id: string, import_id?: string) =>
  checkpointRepository(db).put(
    { idle_thread_id: thread_id, import_id },
    {
      thread_id,
      ns: '',
      checkpoint_id,
      parent_id: null,
      run_id: null,
      checkpoint: '{}',
      versions: '{}',
      metadata: '{}',
      blobs: [],
    },
    'sync',
  );

const STATE = { values: {}, status: 'idle', interrupts: {} } as const;

describeEachDatabase('an import of a history', (open) => {
  test('that another one replaces writes nothing more, and cannot complete', async () => {
    await using db = await open();
    const threads = threadRepository(db);
    await threads.insert(freshThread(1), undefined, FIRST);
    await put(db, '1', FIRST);
    expect(await threads.restartImport(freshThread(1), undefined, SECOND)).toBe(true);
    await expect(put(db, '2', FIRST)).rejects.toBeInstanceOf(Conflict);
    await put(db, '3', SECOND);
    await expect(threads.setState(thread_id, { ...STATE, import_id: FIRST }, at(1))).rejects.toBeInstanceOf(
      Conflict,
    );
    expect(await threads.hasUnfinishedImport(thread_id)).toBe(true);
    expect(await threads.setState(thread_id, { ...STATE, import_id: SECOND }, at(2))).toBe('updated');
    expect(await checkpointRepository(db).newestId(thread_id)).toBe('3');
    expect(await threads.hasUnfinishedImport(thread_id)).toBe(false);
    await expect(put(db, '4', SECOND)).rejects.toBeInstanceOf(Conflict);
  });

  test('does not start anew once it is complete, or for those who do not see the thread', async () => {
    await using db = await open();
    const threads = threadRepository(db);
    await threads.insert(freshThread(1), undefined, FIRST);
    const visibility = { metadata: { contains: { owner: 'ann' } } };
    expect(await threads.restartImport(freshThread(1), undefined, SECOND, visibility)).toBe(false);
    await threads.endImport(thread_id, FIRST);
    expect(await threads.restartImport(freshThread(1), undefined, SECOND)).toBe(false);
  });
});

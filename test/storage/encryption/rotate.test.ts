import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { expect, test } from 'vitest';
import { OWNED_DATA } from '../../../src/app/extensions.ts';
import type { Encryptor } from '../../../src/db/encryption/cipher.ts';
import { openPostgres } from '../../../src/db/engines/postgres.ts';
import { openSqlite } from '../../../src/db/engines/sqlite.ts';
import { raw } from '../../../src/db/sql.ts';
import { openKeyRotation } from '../../../src/storage/storage.ts';
import { TEST_KEY, testSealer } from '../../support/encryption.ts';
import { naming } from '../../support/naming.ts';
import { checkpointsOf, remember, STATE, within } from '../../support/remembered-threads.ts';
import { describeEachPlace } from '../../support/storage-places.ts';
import { at, foundThreads, newState, threadId } from '../../support/stored-threads.ts';
import type { RotationData } from './rotation-thread.ts';

const NEW_KEY = 'a new key that has 32 characters';
const both = () => testSealer(NEW_KEY, [TEST_KEY]);

describeEachPlace('a database whose key changes', (place) => {
  test('is re-encrypted, including plain values, and no longer needs the old key', async () => {
    const url = await place();
    await within(url, undefined, (storage) => remember(storage, 1));
    await within(url, testSealer(), (storage) => remember(storage, 2));
    await within(url, both(), (storage) => remember(storage, 3));

    const { rows, unreadable, tables } = await rotated(url, both());
    expect(unreadable).toEqual([]);
    expect(tables).toMatchObject({ thread_values: 2, checkpoints: 2, checkpoint_blobs: 2 });
    expect(await rotated(url, both())).toEqual({ rows: 0, unreadable: [], tables: {} });
    expect(rows).toBeGreaterThan(6);

    await within(url, testSealer(NEW_KEY), async ({ threads, ...storage }) => {
      for (const n of [1, 2, 3]) {
        const thread_id = threadId(n);
        expect(await threads.get(thread_id)).toMatchObject({ values: STATE });
        expect(await checkpointsOf({ threads, ...storage }, thread_id)).toHaveLength(1);
      }
      const found = await foundThreads(threads, { values: { topic: 'fish' }, sort_order: 'asc' });
      expect(found).toEqual([1, 2, 3]);
    });
  });

  test('still needs the old key before the rotation', async () => {
    const url = await place();
    await within(url, testSealer(), (storage) => remember(storage, 1));
    await within(url, both(), (storage) => remember(storage, 2));

    await expect(within(url, testSealer(NEW_KEY), async () => {})).rejects.toThrow('another key');
  });

  test('serves requests during the rotation', async () => {
    const url = await place();
    await within(url, testSealer(), async (storage) => {
      for (let n = 1; n <= 20; n++) await remember(storage, n);
    });

    await within(url, both(), async (storage) => {
      const data: RotationData = { url, key: NEW_KEY, fallback: [TEST_KEY] };
      const thread = new Worker(new URL('rotation-thread.ts', import.meta.url), { workerData: data });
      const rotating = once(thread, 'message');
      for (let n = 1; n <= 20; n++) {
        await storage.threads.setState(threadId(n), newState({ topic: `new ${n}` }), at(n));
        expect(await checkpointsOf(storage, threadId(n))).toHaveLength(1);
      }
      expect(await rotating).toMatchObject([{ unreadable: [] }]);
    });
    await within(url, testSealer(NEW_KEY), async ({ threads }) => {
      for (let n = 1; n <= 20; n++) {
        expect(await threads.get(threadId(n))).toMatchObject({ values: { topic: `new ${n}` } });
      }
    });
  });

  test('keeps values that cannot be decrypted and reports them', async () => {
    const url = await place();
    await within(url, testSealer(), async (storage) => {
      await remember(storage, 1);
      await remember(storage, 2);
    });
    await changed(
      url,
      `update thread_values set value = (select value from thread_values
      where thread_id <> '${threadId(1)}') where thread_id = '${threadId(1)}'`,
    );
    await changed(
      url,
      `update threads set config = (select value from thread_values
      where thread_id = '${threadId(2)}') where thread_id = '${threadId(2)}'`,
    );

    const { unreadable, tables } = await rotated(url, both());
    expect(unreadable).toEqual([naming('threads.config', threadId(2))]);
    expect(tables).toMatchObject({ threads: 1, thread_values: 2 });
  });

  test('is re-encrypted completely on request', async () => {
    const url = await place();
    await within(url, testSealer(), (storage) => remember(storage, 1));
    expect(await rotated(url, testSealer())).toMatchObject({ rows: 0 });
    expect(await rotated(url, testSealer(), true)).toMatchObject({ tables: { thread_values: 1 } });
  });
});

async function rotated(url: string, sealer: Encryptor, everything = false) {
  await using encryption = await openKeyRotation({ url, owned: OWNED_DATA, encryptor: sealer });
  const tables: Record<string, number> = {};
  const onTable = (table: string, rows: number) => {
    tables[table] = (tables[table] ?? 0) + rows;
  };
  return { ...(await encryption.rotate({ everything, onTable })), tables };
}

async function changed(url: string, statement: string): Promise<void> {
  const file = url.slice('sqlite:'.length);
  await using db = url.startsWith('sqlite:')
    ? openSqlite(file, { synchronous: 'normal' })
    : openPostgres(url);
  await db.run(raw(statement));
}

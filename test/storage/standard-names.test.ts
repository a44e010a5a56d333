import { expect, test } from 'vitest';
import { toJson } from '../../src/core/json.ts';
import { bufferedRandomBytes } from '../../src/core/random.ts';
import { columns } from '../../src/db/columns.ts';
import type { Db } from '../../src/db/db.ts';
import { EncryptingCipher } from '../../src/db/encryption/encrypting-cipher.ts';
import { migrate } from '../../src/db/migrate.ts';
import { migrations } from '../../src/db/migrations/index.ts';
import { raw, sql } from '../../src/db/sql.ts';
import { ThreadSearch } from '../../src/schemas/threads.ts';
import { unlock } from '../../src/storage/encryption/unlock.ts';
import { threadRepository } from '../../src/storage/threads/threads.ts';
import { encryptSummary, serializeState } from '../../src/storage/threads/values-summary.ts';
import { describeEachStorage } from '../support/databases.ts';
import { newRun, queueStory, request } from '../support/queued-runs.ts';
import { at, threadId } from '../support/stored-threads.ts';

/** The version before the names changed. */
const BEFORE = migrations.filter(({ version }) => version < 31);

async function insertOldThread(db: Db, n: number, values: object): Promise<void> {
  const summary = encryptSummary(db.cipher, serializeState(values).summary);
  const config = db.cipher.encryptJson('threads.config', '{}');
  await db.run(sql`
    insert into threads (thread_id, status, metadata, config, outline, created_at, updated_at, state_updated_at)
    values (${threadId(n)}, 'busy', '{}', ${config}, ${summary}, ${at(n)}, ${at(n)}, ${at(n)})`);
  await db.run(sql`insert into thread_values (thread_id, value)
    values (${threadId(n)}, ${db.cipher.encryptJson('thread_values.value', toJson(values))})`);
}

function insertOldQueueRow(db: Db, n: number, thread: number, state: string): Promise<unknown> {
  return db.run(sql`insert into run_queue (run_id, thread_id, state, not_before, priority, owner)
    values (${threadId(n)}, ${threadId(thread)}, ${state}, ${at(n)}, ${n}, ${`owner ${n}`})`);
}

const queueRows = (db: Db) =>
  db.all(sql`select ${columns('run_queue', 'seq, state, priority, owner')} from run_queue order by seq`);

describeEachStorage('a database from before the standard names', (open) => {
  test('has the same queue in the same order after the migration', async () => {
    await using db = await open({ migrated: false });
    await migrate(db, BEFORE);
    for (const [index, state] of ['running', 'parked', 'scheduled', 'ready'].entries()) {
      await insertOldQueueRow(db, index + 1, Math.max(1, index), state);
    }
    const before = await queueRows(db);
    await migrate(db);
    const blocked = before.map((row) =>
      String(row.state) === 'parked' ? { ...row, state: 'blocked' } : row,
    );
    expect(await queueRows(db)).toEqual(blocked);
    await expect(insertOldQueueRow(db, 9, 9, 'parked')).rejects.toThrow(/check/i);
  });

  test('gives new runs a later place than old ones, even if its queue was empty', async () => {
    await using db = await open({ migrated: false });
    await migrate(db, BEFORE);
    await insertOldQueueRow(db, 1, 1, 'ready');
    await insertOldQueueRow(db, 2, 2, 'ready');
    const last = (await queueRows(db)).at(-1)?.seq as number;
    await db.run(raw('delete from run_queue'));
    await migrate(db);
    await queueStory(db).queue.enqueue(request(newRun(threadId(3))));
    expect((await queueRows(db))[0]?.seq).toBeGreaterThan(last);
  });

  test('can search threads by their values and update them', async () => {
    await using db = await open({ migrated: false });
    await migrate(db, BEFORE);
    if (db.cipher instanceof EncryptingCipher) await unlock(db, db.cipher, bufferedRandomBytes());
    await insertOldThread(db, 1, { city: 'Paris' });
    await insertOldThread(db, 2, { city: 'Rome' });
    await migrate(db);
    const threads = threadRepository(db);
    const found = async (city: string) =>
      (await threads.search({ ...ThreadSearch.parse({}), values: { city } })).map((each) => each.thread_id);
    expect(await found('Rome')).toEqual([threadId(2)]);
    await threads.delete(threadId(2));
    expect(await found('Rome')).toEqual([]);
    expect(await found('Paris')).toEqual([threadId(1)]);
  });
});

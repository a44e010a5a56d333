import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { columns } from '../../../src/db/columns.ts';
import { sql } from '../../../src/db/sql.ts';
import { RUN_ERROR_COLUMN, runRepository } from '../../../src/storage/runs/runs.ts';
import { describeEncrypted } from '../../support/databases.ts';
import { queueStory, WORKER } from '../../support/queued-runs.ts';

describeEncrypted('a run that cannot be read', (open) => {
  test('is postponed, and the other runs continue', async () => {
    await using db = await open();
    const { queue, add, claimed, statusOf } = queueStory(db);
    const thread_id = randomUUID();
    const sealed = await add(thread_id);
    const other = await add(randomUUID());
    const kwargs = await db.get(sql`select ${columns('runs', 'kwargs')} from runs where run_id = ${sealed}`);
    const moved = db.cipher.encryptJson(RUN_ERROR_COLUMN, '{}');
    await db.run(sql`update runs set kwargs = ${moved} where run_id = ${sealed}`);

    const claim = { worker_id: WORKER.worker_id, token: randomUUID(), limit: 10, executor_id: randomUUID() };
    expect((await queue.claim(claim)).map(({ lease }) => lease.run_id)).toEqual([other]);
    expect(await claimed()).toEqual([]);
    expect(await statusOf(sealed)).toBe('pending');
    expect(await queue.position(sealed)).toMatchObject({
      state: 'ready',
      attempt: 0,
      retry_reason: 'unreadable',
    });
    expect(await queue.runTimes(sealed)).toMatchObject({ started_at: null, error: null, executor_id: null });

    await db.run(sql`update runs set kwargs = ${kwargs?.kwargs ?? null} where run_id = ${sealed}`);
    await db.run(sql`update run_queue set not_before = '2020-01-01T00:00:00.000Z' where run_id = ${sealed}`);
    expect(await claimed()).toEqual([sealed]);
    expect(await runRepository(db).get(thread_id, sealed)).toMatchObject({ status: 'running' });
  });
});

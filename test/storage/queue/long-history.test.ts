import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { number } from '../../../src/db/columns.ts';
import { sql } from '../../../src/db/sql.ts';
import { describePostgresServer } from '../../support/databases.ts';
import { queueStory } from '../../support/queued-runs.ts';

const CHECKPOINTS = 5_000;

describePostgresServer('a thread with a long history', (open) => {
  test('can roll back a run within the statement timeout', async () => {
    await using db = await open();
    const { queue, add } = queueStory(db);
    const thread_id = randomUUID();
    const run_id = await add(thread_id);
    const padded = sql`lpad(cast(n as text), 36, '0')`;
    const inserted = sql`from generate_series(1, ${CHECKPOINTS}::int) n`;
    const of_run = sql`case when n = ${CHECKPOINTS}::int then ${run_id}::uuid end`;
    await db.run(sql`
      insert into checkpoints (thread_id, ns, checkpoint_id, parent_id, run_id, checkpoint, versions, metadata)
      select ${thread_id}, '', ${padded}, null, ${of_run}, '{}',
        json_build_object('a', cast(n as text), 'b', cast(n as text), 'c', cast(n as text)), '{}' ${inserted}`);
    await db.run(sql`
      insert into checkpoint_blobs (thread_id, ns, channel, version, appends, type, value)
      select ${thread_id}, '', channel, cast(n as text), 0, 'json', '1'::bytea
      ${inserted} cross join (values ('a'), ('b'), ('c')) as channels (channel)`);
    await db.run(sql`analyze checkpoints`);
    await db.run(sql`analyze checkpoint_blobs`);

    await queue.cancel(thread_id, [run_id], {
      action: 'rollback',
      error: { error: 'UserRollback', message: '' },
      log_retention_ms: 1,
    });
    const left = await db.get(sql`select count(*) as ${number('n')} from checkpoint_blobs
      where thread_id = ${thread_id}`);
    expect(left?.n).toBe(3 * (CHECKPOINTS - 1));
  });
});

import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { sql } from '../../../src/db/sql.ts';
import { nowPlus } from '../../../src/db/time.ts';
import { describeEachDatabase } from '../../support/databases.ts';
import { queueStory, successful, WORKER } from '../../support/queued-runs.ts';

describeEachDatabase('the next run of a thread', (open) => {
  test('is claimed as soon as its turn comes, although the clock was set back since it was due', async () => {
    await using db = await open();
    const { queue, add, claimed } = queueStory(db);
    const thread_id = randomUUID();
    await add(thread_id);
    const next = await add(thread_id);
    const [first] = await queue.claim({ worker_id: WORKER.worker_id, token: randomUUID(), limit: 1 });
    if (!first) throw new Error('There is no run to claim.');
    await db.run(sql`update run_queue set not_before = ${nowPlus(3_600_000)} where run_id = ${next}`);
    await queue.finish(first.lease, successful());
    expect(await claimed()).toEqual([next]);
  });
});

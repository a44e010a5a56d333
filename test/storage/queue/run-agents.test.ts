import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { sql } from '../../../src/db/sql.ts';
import { runRepository } from '../../../src/storage/runs/runs.ts';
import { describeEachDatabase } from '../../support/databases.ts';
import { newRun, queueStory, request, WORKER } from '../../support/queued-runs.ts';

describeEachDatabase('the assistant of a run', (open) => {
  test('is claimed as it was at the creation of the run, and not part of the run that clients see', async () => {
    await using db = await open();
    const { queue } = queueStory(db);
    const run = newRun(randomUUID());
    const agent = { assistant_name: 'Helper', assistant_version: 3 };
    await queue.enqueue({ ...request(run), agent });
    const [claimed] = await queue.claim({ worker_id: WORKER.worker_id, token: randomUUID(), limit: 1 });
    expect(claimed?.agent).toEqual(agent);
    expect(Object.keys(claimed?.run ?? {})).not.toContain('assistant_name');

    const found = await runRepository(db).getWithAgent(undefined, run.run_id);
    expect(found?.agent).toEqual(agent);
    expect(Object.keys(found?.run ?? {}).sort()).toEqual(Object.keys(run).sort());
  });

  test('is undefined for a run from before it was stored', async () => {
    await using db = await open();
    const { queue, add } = queueStory(db);
    const run_id = await add(randomUUID());
    await db.run(sql`update runs set assistant_name = null, assistant_version = null`);
    const unknown = { assistant_name: null, assistant_version: null };
    expect((await runRepository(db).getWithAgent(undefined, run_id))?.agent).toEqual(unknown);
    const [claimed] = await queue.claim({ worker_id: WORKER.worker_id, token: randomUUID(), limit: 1 });
    expect(claimed?.agent).toEqual(unknown);
  });
});

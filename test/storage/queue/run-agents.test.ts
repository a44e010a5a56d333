import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
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
});

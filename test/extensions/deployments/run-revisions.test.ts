import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { runRepository } from '../../../src/storage/runs/runs.ts';
import { describeEachDatabase } from '../../support/databases.ts';
import { newRun, queueStory, request, WORKER } from '../../support/queued-runs.ts';

const [FIRST, SECOND] = [randomUUID(), randomUUID()];
const RELEASE = { charge: false, delay_ms: 0, batch: { frames: [], writes: [], steps: [] } };

describeEachDatabase('the revision of a run', (open) => {
  test('is the one whose worker claimed its last attempt', async () => {
    await using db = await open();
    const { queue } = queueStory(db);
    const run = newRun(randomUUID());
    const { run_id, thread_id } = run;
    await queue.enqueue(request(run));
    const revisions = async () => {
      const { executorOf, getWithAgent } = runRepository(db);
      const found = await getWithAgent(thread_id, run_id);
      const { executor_id: revision_id } = (await queue.runTimes(run_id)) ?? {};
      expect(found?.executor_id).toBe(revision_id);
      expect(Object.keys(found?.run ?? {}).sort()).toEqual(Object.keys(run).sort());
      expect((await executorOf(thread_id, run_id)) ?? null).toBe(revision_id);
      return revision_id;
    };
    const claim = async (revision_id?: string) => {
      const { worker_id } = WORKER;
      const [claimed] = await queue.claim({
        worker_id,
        token: randomUUID(),
        limit: 1,
        executor_id: revision_id,
      });
      if (!claimed) throw new Error('nothing was claimed');
      return claimed.lease;
    };
    expect(await revisions()).toBeNull();
    const first = await claim(FIRST);
    expect(await revisions()).toBe(FIRST);
    await queue.requeue(first, RELEASE);
    expect(await revisions()).toBe(FIRST);
    const second = await claim(SECOND);
    expect(await revisions()).toBe(SECOND);
    expect(await runRepository(db).executorOf(randomUUID(), run_id)).toBeUndefined();

    // Without deployments.
    await queue.requeue(second, RELEASE);
    await claim();
    expect(await revisions()).toBeNull();
  });
});

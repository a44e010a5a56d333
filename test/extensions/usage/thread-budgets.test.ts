import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import type { Db } from '../../../src/db/db.ts';
import { budgetRepository } from '../../../src/extensions/usage/storage/budgets.ts';
import type { NewRun } from '../../../src/storage/queue/enqueue.ts';
import { describeEachDatabase } from '../../support/databases.ts';
import { newRun, request, successful } from '../../support/queued-runs.ts';
import { attemptOf, chargingStory, TODAY } from './budget-attempt.ts';

/** What a thread asks, as a run left it there. */
const asks = (budget: string) => ({
  task: [{ id: `budget:${randomUUID()}`, value: { type: 'budget', budget } }],
});
const ANSWER = { resume: true, is_strict: false, user_id: null };

describeEachDatabase('the budget of a thread', (open) => {
  /** A run of the thread used 10 tokens and asks; `used` then counts. */
  async function asking(db: Db, budget: string) {
    const { queue } = chargingStory(db);
    const thread_id = randomUUID();
    await queue.enqueue(request(newRun(thread_id)));
    const use = async () => {
      using run = await attemptOf(db, { thread: thread_id });
      await run.step(10);
      const thread = { ...successful().thread, status: 'interrupted' as const, interrupts: asks(budget) };
      await queue.finish(run.lease, { ...successful(), thread, batch: await run.writes.drain() });
    };
    await use();
    const answer = (options: Partial<NewRun> = {}) =>
      queue.enqueue({ ...request(newRun(thread_id)), answer: ANSWER, ...options });
    const used = async () =>
      (await budgetRepository(db).used({ thread: thread_id }, TODAY)).thread?.tokens ?? 0;
    return { thread_id, use, answer, used };
  }

  test('is renewed by the first of two concurrent answers, and not by a run that waits behind it', async () => {
    await using db = await open();
    const { use, answer, used } = await asking(db, 'thread');
    expect(await used()).toBe(10);
    await Promise.all([answer(), answer()]);
    expect(await used()).toBe(0);
    await use();
    await answer();
    expect(await used()).toBe(10);
  });

  test('is not renewed by an answer that is refused, resumes elsewhere, or answers another interrupt', async () => {
    await using db = await open();
    const thread = await asking(db, 'thread');
    const run = newRun(thread.thread_id);
    await chargingStory(db).queue.enqueue(request(run));
    expect(await thread.answer({ others: 'reject' })).toMatchObject({ outcome: 'rejected' });
    await chargingStory(db).queue.deleteRun(thread.thread_id, run.run_id);
    await thread.answer({ answer: { ...ANSWER, checkpoint: { id: randomUUID() } } });
    expect(await thread.used()).toBe(10);

    const other = await asking(db, 'run');
    await other.answer();
    expect(await other.used()).toBe(10);
  });
});

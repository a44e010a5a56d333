import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import type { Db } from '../../../src/db/db.ts';
import { sql } from '../../../src/db/sql.ts';
import type { Run } from '../../../src/schemas/runs.ts';
import { answersOf } from '../../../src/storage/queue/accept-answer.ts';
import type { NewRun } from '../../../src/storage/queue/enqueue.ts';
import { effectOnOthers } from '../../../src/storage/queue/multitask.ts';
import { emptyBatch } from '../../../src/storage/runs/batch.ts';
import { interruptAnswerRepository } from '../../../src/storage/threads/interrupt-answers.ts';
import { describeEachStorage } from '../../support/databases.ts';
import { newRun, queueStory, request, WORKER } from '../../support/queued-runs.ts';

const [ONE, OTHER] = ['1'.repeat(32), '2'.repeat(32)] as const;
const BUDGET = `budget:${randomUUID()}`;
const asked = (...ids: string[]) =>
  ids.map((id) => ({ task_id: `task of ${id}`, interrupt: { id, value: 1 } }));

interface Case {
  what: string;
  of: string[];
  resume: unknown;
  is_strict?: boolean;
  isNewest?: boolean;
  found: Record<string, unknown>;
}

test.each<Case>([
  { what: 'the only one', of: [ONE], resume: 'yes', found: { [ONE]: 'yes' } },
  { what: 'the only one, with false', of: [ONE], resume: false, found: { [ONE]: false } },
  { what: 'those that it names', of: [ONE, OTHER], resume: { [OTHER]: 2 }, found: { [OTHER]: 2 } },
  { what: 'none of several if it names no id', of: [ONE, OTHER], resume: 'yes', found: {} },
  { what: 'nothing elsewhere', of: [ONE], resume: 'yes', isNewest: false, found: {} },
  { what: 'what it names', of: [ONE], resume: { [ONE]: 1 }, isNewest: false, found: { [ONE]: 1 } },
  { what: 'nothing without an answer', of: [ONE], resume: undefined, found: {} },
  { what: 'nothing with an unknown id', of: [ONE], resume: { [OTHER]: 1 }, found: {} },
  {
    what: 'what is known',
    of: [ONE],
    resume: { [ONE]: 1, [OTHER]: 2 },
    found: { [ONE]: 1 },
  },
  {
    what: 'nothing if a strict answer names an unknown id',
    of: [ONE],
    resume: { [ONE]: 1, [OTHER]: 2 },
    is_strict: true,
    found: {},
  },
  { what: 'a budget by continuing', of: [BUDGET], resume: undefined, found: { [BUDGET]: null } },
  { what: 'a budget by its name', of: [BUDGET], resume: { [BUDGET]: 'go' }, found: { [BUDGET]: 'go' } },
  {
    what: 'a budget with anything',
    of: [BUDGET],
    resume: { more: true },
    found: { [BUDGET]: { more: true } },
  },
  { what: 'no budget elsewhere', of: [BUDGET], resume: 'go', isNewest: false, found: {} },
])('a request answers $what', ({ of, resume, is_strict = false, isNewest = true, found }) => {
  const answers = answersOf(asked(...of), { resume, is_strict, user_id: null }, isNewest);
  expect(Object.fromEntries(answers.map(({ interrupt, answer }) => [interrupt.id, answer]))).toEqual(found);
});

/** A thread that asks these, and what is stored of answers to it. */
async function asking(db: Db, ...ids: string[]) {
  const { queue, add } = queueStory(db);
  const thread_id = randomUUID();
  await queue.deleteRun(thread_id, await add(thread_id));
  const interrupts = db.cipher.encryptJson(
    'threads.interrupts',
    JSON.stringify({ t: ids.map((id) => ({ id, value: { question: id } })) }),
  );
  await db.run(sql`update threads set interrupts = ${interrupts} where thread_id = ${thread_id}`);
  return {
    thread_id,
    queue,
    answer: async (resume: unknown, options: Partial<NewRun> = {}) => {
      const run = newRun(thread_id);
      const answer = { resume, is_strict: false, user_id: 'ann' };
      const result = await queue.enqueue({ ...request(run), key_id: 'key', answer, ...options });
      return { run, outcome: result.outcome };
    },
    answers: async () =>
      (await interruptAnswerRepository(db).search({ thread_id, order: 'asc', limit: 10 })).found,
  };
}

describeEachStorage('an answer to an interrupt', (open) => {
  test('is stored with its run: interrupt, answer, user and time', async () => {
    await using db = await open();
    const { thread_id, answer, answers } = await asking(db, ONE);
    const { run } = await answer({ decision: 'approve' });
    expect(await answers()).toEqual([
      {
        interrupt_id: ONE,
        thread_id,
        task_id: 't',
        run_id: run.run_id,
        assistant_id: run.assistant_id,
        since: expect.any(String),
        created_at: run.updated_at,
        user_id: 'ann',
        key_id: 'key',
        value: { question: ONE },
        value_bytes: 47,
        answer: { decision: 'approve' },
        answer_bytes: 22,
      },
    ]);
  });

  test('is stored once if two arrive concurrently', async () => {
    await using db = await open();
    const { answer, answers } = await asking(db, ONE);
    const both = await Promise.all([answer('one'), answer('other')]);
    expect(both.map(({ outcome }) => outcome)).toEqual(['queued', 'queued']);
    expect(await answers()).toHaveLength(1);
  });

  test('is stored once if two interrupts have one id', async () => {
    await using db = await open();
    const { answer, answers } = await asking(db, ONE, ONE);
    expect((await answer({ [ONE]: 'yes' })).outcome).toBe('queued');
    expect(await answers()).toHaveLength(1);
  });

  test('is not stored if its run is refused, and is deleted with its run', async () => {
    await using db = await open();
    const { thread_id, queue, answer, answers } = await asking(db, ONE, OTHER);
    const { run } = await answer({ [ONE]: 1, [OTHER]: 2 });
    expect((await answer('again', { others: 'reject' })).outcome).toBe('rejected');
    expect((await answers()).map(({ answer }) => answer)).toEqual([1, 2]);
    await queue.deleteRun(thread_id, run.run_id);
    expect(await answers()).toEqual([]);
    const again = await answer({ [ONE]: 3 });
    await db.run(sql`delete from threads where thread_id = ${thread_id}`);
    expect(again.outcome).toBe('queued');
    expect(await answers()).toEqual([]);
  });

  test('is replaced by its size if it is large', async () => {
    await using db = await open();
    const { answer, answers } = await asking(db, ONE);
    await answer('x'.repeat(40_000));
    const [stored] = await answers();
    expect(stored).toMatchObject({ value: { question: ONE }, answer_bytes: 40_002 });
    expect(stored).not.toHaveProperty('answer');
  });

  test.each(['interrupt', 'rollback'] as const)(
    'belongs to the run that replaces one which never began (%s)',
    async (strategy) => {
      await using db = await open();
      const { answer, answers } = await asking(db, ONE);
      await answer('first');
      const { run } = await answer('second', { others: effectOnOthers(strategy, randomUUID(), 60_000) });
      expect(await answers()).toMatchObject([{ run_id: run.run_id, answer: 'second' }]);
    },
  );

  test('is deleted when its run is cancelled before it begins, and stays if it has begun', async () => {
    await using db = await open();
    const { thread_id, queue, answer, answers } = await asking(db, ONE);
    const how = { action: 'interrupt', error: { error: 'E', message: '' }, log_retention_ms: 1000 } as const;
    const cancel = ({ run_id }: Run) => queue.cancel(thread_id, [run_id], how);
    await cancel((await answer('first')).run);
    expect(await answers()).toEqual([]);
    const { run } = await answer('second');
    const [claimed] = await queue.claim({ ...WORKER, token: randomUUID(), limit: 1 });
    if (!claimed) throw new Error('There is no run to claim.');
    await queue.requeue(claimed.lease, { charge: false, delay_ms: 0, batch: emptyBatch() });
    await cancel(run);
    expect(await answers()).toMatchObject([{ run_id: run.run_id }]);
  });
});

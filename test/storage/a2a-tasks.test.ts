import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { a2aTaskRepository } from '../../src/storage/a2a-tasks.ts';
import type { Db } from '../../src/storage/db.ts';
import { sql } from '../../src/storage/sql.ts';
import { describeEachStorage } from '../support/databases.ts';
import { queueStory } from '../support/queued-runs.ts';

const AT = '2026-11-20T12:00:00.000Z';
const AGENT = randomUUID();

/** Tasks of one agent, each on a thread of its own, the newest last. */
async function story(db: Db) {
  const tasks = a2aTaskRepository(db);
  const queue = queueStory(db);
  const add = async (thread_id: string = randomUUID()) => {
    const run_id = await queue.add(thread_id);
    const task = { task_id: run_id, thread_id, assistant_id: AGENT, context_id: 'a name', created_at: AT };
    const turn = {
      task_id: run_id,
      run_id,
      position: 0,
      message: { messageId: 'm', parts: [{ text: 'ü' }] },
    };
    await tasks.insert(task, turn);
    return { task, turn };
  };
  const set = (run_id: string, status: string, at = AT) =>
    db.run(sql`update runs set status = ${status}, updated_at = ${at} where run_id = ${run_id}`);
  return { tasks, queue, add, set };
}

describeEachStorage('tasks of A2A', (open) => {
  test('have the state of their run until it is settled', async () => {
    await using db = await open();
    const { tasks, add, set } = await story(db);
    const { task, turn } = await add();
    const stateIn = async (status: string) => {
      await set(task.task_id, status);
      return (await tasks.get(task.task_id))?.state;
    };
    expect(await tasks.get(task.task_id)).toMatchObject({ ...task, is_settled: false, artifacts: [] });
    expect(await stateIn('running')).toBe('TASK_STATE_WORKING');
    expect(await stateIn('interrupted')).toBe('TASK_STATE_CANCELED');
    expect(await stateIn('timeout')).toBe('TASK_STATE_FAILED');
    expect(await stateIn('success')).toBe('TASK_STATE_COMPLETED');
    const row = await tasks.get(task.task_id);
    if (!row) throw new Error('no task');
    await tasks.settle(row, { state: 'TASK_STATE_INPUT_REQUIRED', artifacts: [{ artifactId: 'a' }] });
    expect(await tasks.get(task.task_id)).toMatchObject({
      state: 'TASK_STATE_INPUT_REQUIRED',
      is_settled: true,
      at: AT,
      artifacts: [{ artifactId: 'a' }],
    });
    expect(await tasks.turns(task.task_id)).toEqual([turn]);
  });

  test('go on with another run, which no late settling of the one before undoes', async () => {
    await using db = await open();
    const { tasks, queue, add, set } = await story(db);
    const { task, turn } = await add();
    await set(task.task_id, 'success');
    const before = await tasks.get(task.task_id);
    if (!before) throw new Error('no task');
    const run_id = await queue.add(task.thread_id);
    await tasks.continue({ ...turn, run_id, position: 2 });
    await tasks.settle(before, { state: 'TASK_STATE_COMPLETED', artifacts: [] });
    expect(await tasks.get(task.task_id)).toMatchObject({ run_id, state: 'TASK_STATE_SUBMITTED' });
    expect((await tasks.turns(task.task_id)).map((each) => each.run_id)).toEqual([task.task_id, run_id]);
  });

  test('are listed page by page, the newest state first, by their state and their time', async () => {
    await using db = await open();
    const { tasks, add, set } = await story(db);
    const ids: string[] = [];
    for (const minute of [1, 2, 2, 3]) {
      const { task } = await add();
      await set(task.task_id, 'success', `2026-11-20T12:0${minute}:00.000Z`);
      ids.push(task.task_id);
    }
    const whole = await tasks.list({ assistant_id: AGENT, limit: 10 });
    expect(whole.map(({ at }) => at.slice(14, 16))).toEqual(['03', '02', '02', '01']);
    const first = await tasks.list({ assistant_id: AGENT, limit: 2 });
    const rest = await tasks.list({ assistant_id: AGENT, after: first.at(-1), limit: 10 });
    expect([...first, ...rest]).toEqual(whole);
    const since = { assistant_id: AGENT, since: '2026-11-20T12:02:00.000Z' };
    expect(await tasks.count(since)).toBe(3);
    expect(await tasks.count({ ...since, states: ['TASK_STATE_FAILED'] })).toBe(0);
    expect(await tasks.count({ ...since, states: ['TASK_STATE_COMPLETED', 'TASK_STATE_FAILED'] })).toBe(3);
    expect(await tasks.count({ assistant_id: randomUUID() })).toBe(0);
    expect(await tasks.list({ assistant_id: AGENT, is_settled: true, limit: 10 })).toEqual([]);
  });

  test('are not there for who may not see their thread, and go with it', async () => {
    await using db = await open();
    const { tasks, add } = await story(db);
    const { task } = await add();
    const others = { metadata: { contains: { owner: 'bob' } } };
    expect(await tasks.get(task.task_id, others)).toBeUndefined();
    expect(await tasks.list({ limit: 10 }, others)).toEqual([]);
    expect(await tasks.lastCheckpoint(task.thread_id, [task.task_id])).toBeUndefined();
    await db.run(sql`delete from threads where thread_id = ${task.thread_id}`);
    expect(await tasks.turns(task.task_id)).toEqual([]);
  });
});

import { randomUUID } from 'node:crypto';
import type { Db } from '../../src/db/db.ts';
import { sql } from '../../src/db/sql.ts';
import type { TaskResult } from '../../src/extensions/a2a/storage/finalize-task.ts';
import { a2aTaskRepository } from '../../src/extensions/a2a/storage/tasks.ts';
import { a2aTurns, type NewTurn } from '../../src/extensions/a2a/storage/turns.ts';
import { Riders } from '../../src/storage/riders.ts';
import { newRun, queueStory, request } from './queued-runs.ts';

export const AT = '2026-11-20T12:00:00.000Z';
export const AGENT = randomUUID();

export const MESSAGE = { messageId: 'm', parts: [{ text: 'ü' }] };
export const WAITING = { state: 'TASK_STATE_INPUT_REQUIRED', artifacts: [] };
export const COMPLETED = { state: 'TASK_STATE_COMPLETED', artifacts: [] };

/** Tasks of one agent, each on a thread of its own, the newest last. */
export function taskStory(db: Db) {
  const tasks = a2aTaskRepository(db);
  const queue = queueStory(db, { riders: new Riders([a2aTurns]) });
  const turn = (task: NewTurn['task']): NewTurn => ({ task, position: 0, message: MESSAGE });
  async function add(thread_id: string = randomUUID()) {
    const run = { ...newRun(thread_id), assistant_id: AGENT };
    await queue.queue.enqueue({
      ...request(run),
      cargo: { a2a: turn({ is_new: true, context_id: 'a name' }) },
    });
    return run.run_id;
  }
  async function continued(task_id: string, answers: string | undefined) {
    const { thread_id } = await found(task_id);
    const run = newRun(thread_id);
    const question = answers === undefined ? undefined : { run_id: answers, state: WAITING.state };
    const kept = turn({ is_new: false, task_id, answers: question });
    const { outcome } = await queue.queue.enqueue({ ...request(run), cargo: { a2a: kept } });
    return { outcome, run_id: run.run_id };
  }
  async function found(task_id: string) {
    const row = await tasks.get(task_id);
    if (!row) throw new Error('no task');
    return row;
  }
  const set = (run_id: string, status: string, at = AT) =>
    db.run(sql`update runs set status = ${status}, updated_at = ${at} where run_id = ${run_id}`);
  const settle = async (task_id: string, end: TaskResult) =>
    tasks.finalize({ row: await found(task_id), result: end, notification: undefined });
  return { tasks, add, continued, found, set, settle, claim: queue.claimed };
}

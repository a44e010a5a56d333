import { toJson } from '../../core/json.ts';
import type { Reader, Transaction } from '../../db/db.ts';
import { decryptJsonColumns } from '../../db/encryption/cipher.ts';
import { raw, sql } from '../../db/sql.ts';
import { finalizeTask, type TaskFinalization } from './finalize-task.ts';
import { insertPushConfig, type NewPushConfig } from './push-configs.ts';

/** What a client said, and the run that it led to. */
export interface A2aTurn {
  readonly task_id: string;
  readonly run_id: string;
  /** How many messages the graph's state had before it. */
  readonly position: number;
  /** As JSON of protocol 1.0. */
  readonly message: unknown;
}

/** A message that becomes a run: written with it. */
export interface NewTurn extends Pick<A2aTurn, 'position' | 'message'> {
  readonly task: NewTask | ContinuedTask;
  /** Who is told of the task from now on; an id that is missing becomes that of the task. */
  readonly push?: NewPushConfig | undefined;
  /** Tasks that waited for an answer and do not get one any more. */
  readonly abandoned?: readonly TaskFinalization[];
}

/** Its id is that of its first run. */
interface NewTask {
  readonly is_new: true;
  /** The thread, as the client calls it. */
  readonly context_id: string;
}

export interface ContinuedTask {
  readonly is_new: false;
  readonly task_id: string;
  /** The run that asked what is answered, and the state it left; undefined for a message to a task that works. */
  readonly answers: { readonly run_id: string; readonly state: string } | undefined;
}

interface RunOfTurn {
  readonly run_id: string;
  readonly thread_id: string;
  readonly assistant_id: string;
  readonly updated_at: string;
}

const MESSAGE_COLUMN = 'a2a_turns.message';

/** Whether the task is still as the caller saw it. Part of the transaction that adds the run, after the thread's lock. */
export async function acceptsTurn(tx: Transaction, { task }: NewTurn): Promise<boolean> {
  if (task.is_new) return true;
  const { task_id, answers } = task;
  const fits =
    answers === undefined
      ? raw('state is null')
      : sql`state = ${answers.state} and run_id = ${answers.run_id}`;
  const changed = await tx.run(
    sql`update a2a_tasks set context_id = context_id where task_id = ${task_id} and ${fits}`,
  );
  return changed === 1;
}

/** Part of the transaction that has added the run. */
export async function insertTurn(tx: Transaction, turn: NewTurn, run: RunOfTurn): Promise<void> {
  const { task, position, message, push, abandoned = [] } = turn;
  const { run_id } = run;
  const sealed = tx.cipher.encryptJson(MESSAGE_COLUMN, toJson(message));
  const task_id = task.is_new ? run_id : task.task_id;
  if (task.is_new) {
    await tx.run(sql`
      insert into a2a_tasks (task_id, thread_id, assistant_id, context_id, run_id, artifacts, created_at)
      values (${task_id}, ${run.thread_id}, ${run.assistant_id}, ${task.context_id}, ${run_id}, '[]',
        ${run.updated_at})`);
  } else {
    await tx.run(sql`
      update a2a_tasks set run_id = ${run_id}, state = null, state_at = null, reason = null
      where task_id = ${task_id}`);
  }
  await tx.run(sql`insert into a2a_turns (task_id, run_id, position, message, is_kept)
    values (${task_id}, ${run_id}, ${position}, ${sealed}, 0)`);
  if (push) await insertPushConfig(tx, task_id, push);
  for (const finalization of abandoned) await finalizeTask(tx, finalization);
}

/** In the order in which they were said. */
export async function listTurns(reader: Reader, task_id: string): Promise<A2aTurn[]> {
  const rows = await reader.all<A2aTurn>(sql`
    select task_id, run_id, position, message from a2a_turns where task_id = ${task_id} order by seq`);
  return rows.map((row) => decryptJsonColumns(reader.cipher, row, { message: MESSAGE_COLUMN }));
}

/** The runs whose events the task has not yet got, the first one first. */
export async function runsPendingArtifacts(reader: Reader, task_id: string): Promise<string[]> {
  const rows = await reader.all<{ run_id: string }>(
    sql`select run_id from a2a_turns where task_id = ${task_id} and is_kept = 0 order by seq`,
  );
  return rows.map(({ run_id }) => run_id);
}

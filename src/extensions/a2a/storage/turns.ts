import { Conflict, InvalidInput } from '../../../core/errors.ts';
import { toJson } from '../../../core/json.ts';
import { columns } from '../../../db/columns.ts';
import type { Reader, Transaction } from '../../../db/db.ts';
import { decryptJsonColumns } from '../../../db/encryption/cipher.ts';
import { raw, sql } from '../../../db/sql.ts';
import type { Refusal, Rider } from '../../../storage/riders.ts';
import { finalizeTask, type TaskFinalization } from './finalize-task.ts';
import { hasRoom, insertPushConfig, MAX_PUSH_CONFIGS, type NewPushConfig } from './push-configs.ts';

/** A client message and the run that it started. */
export interface A2aTurn {
  readonly task_id: string;
  readonly run_id: string;
  /** Number of messages in the graph's state before it. */
  readonly position: number;
  /** Protocol 1.0 JSON. */
  readonly message: unknown;
}

/** A message to store with the run that it starts. */
export interface NewTurn extends Pick<A2aTurn, 'position' | 'message'> {
  readonly task: NewTask | ContinuedTask;
  /** Push configuration to add; without an id it takes the task's. */
  readonly push?: NewPushConfig | undefined;
  /** Interrupted tasks that this turn supersedes. */
  readonly abandoned?: readonly TaskFinalization[];
}

/** Takes the id of its first run. */
interface NewTask {
  readonly is_new: true;
  /** The client's id of the thread. */
  readonly context_id: string;
}

export interface ContinuedTask {
  readonly is_new: false;
  readonly task_id: string;
  /** The interrupted run being answered and its state; `undefined` for a message to a working task. */
  readonly answers: { readonly run_id: string; readonly state: string } | undefined;
}

interface RunOfTurn {
  readonly run_id: string;
  readonly thread_id: string;
  readonly assistant_id: string;
  readonly updated_at: string;
}

const MESSAGE_COLUMN = 'a2a_turns.message';

/** Commits a run with the message that it answers. */
export const a2aTurns: Rider<NewTurn> = {
  name: 'a2a',
  follows_ends: true,

  admit: (tx, _added, turn) => turn && turnRefusal(tx, turn),

  enqueued: (tx, { run }, turn) => turn && insertTurn(tx, turn, run),
};

/** An A2A task takes no further push notification configuration. */
export function tooManySubscribers(): InvalidInput {
  return new InvalidInput(
    `The task has ${MAX_PUSH_CONFIGS} push notification configurations, which is the maximum.`,
  );
}

/**
 * Why the task does not take the turn: an optimistic check that it is unchanged, and has room for a subscriber that the
 * turn brings.
 */
async function turnRefusal(tx: Transaction, { task, push }: NewTurn): Promise<Refusal | undefined> {
  if (task.is_new) return undefined;
  const { task_id, answers } = task;
  const fits =
    answers === undefined
      ? raw('state is null')
      : sql`state = ${answers.state} and run_id = ${answers.run_id}`;
  const changed = await tx.run(
    sql`update a2a_tasks set context_id = context_id where task_id = ${task_id} and ${fits}`,
  );
  if (changed !== 1) {
    return new Conflict(
      'The task changed before the message arrived. Get the task and send the message again.',
    );
  }
  return push && !(await hasRoom(tx, task_id, push)) ? tooManySubscribers() : undefined;
}

async function insertTurn(tx: Transaction, turn: NewTurn, run: RunOfTurn): Promise<void> {
  const { task, position, message, push, abandoned = [] } = turn;
  const { run_id } = run;
  const encrypted = tx.cipher.encryptJson(MESSAGE_COLUMN, toJson(message));
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
  await tx.run(sql`insert into a2a_turns (task_id, run_id, position, message, is_stored)
    values (${task_id}, ${run_id}, ${position}, ${encrypted}, 0)`);
  if (push) await insertPushConfig(tx, task_id, push);
  for (const finalization of abandoned) await finalizeTask(tx, finalization);
}

/** In conversation order. */
export async function listTurns(reader: Reader, task_id: string): Promise<A2aTurn[]> {
  const rows = await reader.all(sql`
    select ${columns('a2a_turns', 'task_id, run_id, position, message')} from a2a_turns
    where task_id = ${task_id} order by seq`);
  return rows.map((row) => decryptJsonColumns(reader.cipher, row, { message: MESSAGE_COLUMN }));
}

/** Runs whose event artifacts are not collected yet, oldest first. */
export async function runsPendingArtifacts(reader: Reader, task_id: string): Promise<string[]> {
  const rows = await reader.all(sql`
    select ${columns('a2a_turns', 'run_id')} from a2a_turns
    where task_id = ${task_id} and is_stored = 0 order by seq`);
  return rows.map(({ run_id }) => run_id);
}

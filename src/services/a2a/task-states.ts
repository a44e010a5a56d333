import { Artifact, TaskState, taskStateToJSON } from '@a2a-js/sdk';
import { RequestMalformedError, TaskNotFoundError } from '@a2a-js/sdk/errors';
import type { Actor } from '../../auth/actor.ts';
import { authorize } from '../../auth/authorize.ts';
import { type Clock, timestamp } from '../../core/clock.ts';
import { unlessGone } from '../../core/errors.ts';
import { isUuid } from '../../core/ids.ts';
import { isObject } from '../../core/json.ts';
import type { ThreadState } from '../../schemas/thread-state.ts';
import type { A2aTaskQuery, A2aTaskRepository, A2aTaskRow, SettledTask } from '../../storage/a2a-tasks.ts';
import type { RunService } from '../runs.ts';
import type { ThreadStateService } from '../thread-state.ts';
import { isFinal } from '../transitions.ts';
import type { FactsOf } from './assistant-facts.ts';
import { saidIn, withPiece } from './shown-artifacts.ts';
import { interruptsOf, isTerminal, saidBy, stateOf, type TaskFacts } from './task-view.ts';

export interface A2aTaskDeps {
  readonly tasks: A2aTaskRepository;
  readonly runs: Pick<RunService, 'cancel' | 'joinStream'>;
  readonly threadState: Pick<ThreadStateService, 'at'>;
  readonly factsOf: FactsOf;
  readonly clock: Clock;
}

/** Tasks that are brought up to date at once. */
const BATCH = 100;

export const UNANSWERED = 'The conversation went on without an answer.';

export const CANCELED = taskStateToJSON(TaskState.TASK_STATE_CANCELED);

export type TaskStates = ReturnType<typeof taskStates>;

/** Brings tasks up to date with their runs: what the state after a run says is read once, and kept. */
export function taskStates(deps: A2aTaskDeps) {
  const { tasks, clock } = deps;

  /** Also by `<thread id>:<run id>`, the form of the official server. Throws `TaskNotFoundError`. */
  async function find(actor: Actor, assistant_id: string, id: string): Promise<A2aTaskRow> {
    if (id.trim() === '') throw new RequestMalformedError('The id of the task is missing.');
    const task_id = id.split(':').at(-1) as string;
    const visibility = await authorize(actor, 'threads:read', { task_id });
    const row = isUuid(task_id) ? await tasks.get(task_id, visibility) : undefined;
    if (row?.assistant_id !== assistant_id) throw new TaskNotFoundError(`Task not found: ${id}`);
    return settled(actor, row);
  }

  async function stateAfter(actor: Actor, row: A2aTaskRow, run_ids: readonly string[]) {
    const last = await tasks.lastCheckpoint(row.thread_id, run_ids);
    if (!last) return undefined;
    const { checkpoint_id, is_newest } = last;
    const state = await deps.threadState.at(actor, row.thread_id, { checkpoint_id }, {}).catch(unlessGone);
    return state && { state, is_newest };
  }

  async function factsFor(actor: Actor, row: A2aTaskRow): Promise<TaskFacts & { is_newest: boolean }> {
    const turns = await tasks.turns(row.task_id);
    const run_ids = turns.map(({ run_id }) => run_id);
    const [found, { outputs }] = await Promise.all([
      stateAfter(actor, row, run_ids),
      deps.factsOf(actor, row.assistant_id),
    ]);
    return { row, turns, state: found?.state, outputs, is_newest: found?.is_newest ?? true };
  }

  /** Reads once what the state after the run says, and keeps it. */
  async function settled(actor: Actor, row: A2aTaskRow): Promise<A2aTaskRow> {
    if (!isFinal(row.run_status) || (row.is_settled && isTerminal(stateOf(row)))) return row;
    const { state, is_newest } = await factsFor(actor, row);
    const end = endOf(row, state, is_newest, timestamp(clock.now()));
    if (row.is_settled && end.state === row.state) return row;
    const artifacts = row.is_settled ? row.artifacts : await shownArtifacts(deps, actor, row);
    await tasks.settle(row, { ...end, artifacts });
    return (await tasks.get(row.task_id)) ?? row;
  }

  async function settleAll(actor: Actor, query: Omit<A2aTaskQuery, 'limit'>): Promise<A2aTaskRow[]> {
    const visibility = await authorize(actor, 'threads:search', { ...query });
    const rows: A2aTaskRow[] = [];
    for (let page: A2aTaskRow[] | undefined; !page || page.length === BATCH; ) {
      const last = page?.at(-1);
      page = await tasks.list({ ...query, after: last, limit: BATCH }, visibility);
      for (const row of page) rows.push(await settled(actor, row));
    }
    return rows;
  }

  return { find, settled, factsFor, settleAll };
}

function endOf(
  row: A2aTaskRow,
  state: ThreadState | undefined,
  is_newest: boolean,
  now: string,
): Omit<SettledTask, 'artifacts'> {
  if (row.run_status !== 'success') return { state: row.state };
  const interrupts = interruptsOf(state);
  if (state && (state.next.length > 0 || interrupts.length > 0)) {
    if (!is_newest) return { state: CANCELED, reason: UNANSWERED, at: now };
    const is_auth = interrupts.some(({ value }) => isObject(value) && value['type'] === 'auth_required');
    return { state: `TASK_STATE_${is_auth ? 'AUTH' : 'INPUT'}_REQUIRED` };
  }
  const { reject } = saidBy(state);
  if (typeof reject === 'string') return { state: 'TASK_STATE_REJECTED', reason: reject };
  return { state: 'TASK_STATE_COMPLETED' };
}

/** What the graph showed by events during the run, over what it showed in earlier ones. */
async function shownArtifacts(
  { runs }: A2aTaskDeps,
  actor: Actor,
  { thread_id, run_id, artifacts }: A2aTaskRow,
): Promise<unknown[]> {
  let shown = artifacts.map((artifact) => Artifact.fromJSON(artifact));
  const { signal } = new AbortController();
  const frames = await runs.joinStream(actor, thread_id, run_id, { after: 0 }, signal);
  for await (const frame of frames) {
    const { piece } = saidIn(frame);
    if (piece) shown = withPiece(shown, piece);
  }
  return shown.map((artifact) => Artifact.toJSON(artifact));
}

import { type Message, type Task, TaskState, taskStateToJSON } from '@a2a-js/sdk';
import { RequestMalformedError, TaskNotCancelableError } from '@a2a-js/sdk/errors';
import type { Actor } from '../../auth/actor.ts';
import { authorize } from '../../auth/authorize.ts';
import { inUtc, timestamp } from '../../core/clock.ts';
import { undefinedIfNotFound } from '../../core/errors.ts';
import { isUuid } from '../../core/ids.ts';
import { isTimestamp } from '../../services/pagination.ts';
import { threadIdFromName } from '../../services/threads/threads.ts';
import type { A2aContext } from './context.ts';
import { INTERRUPTED_STATE_NAMES, inStates, inStatesByRun, stateNameOf } from './state-names.ts';
import type { TaskFinalization } from './storage/finalize-task.ts';
import type { A2aTaskRow } from './storage/tasks.ts';
import { CANCELED, finalizationOf, type TaskStates, taskStates, UNANSWERED } from './task-states.ts';
import {
  directAnswerOf,
  INTERRUPTED_STATES,
  isStopped,
  stateOf,
  submittedTaskOf,
  taskOf,
} from './task-view.ts';

/** Scope of a task's history: the task alone, or its whole context. */
export type HistoryScope = 'task' | 'context';

export interface TaskListQuery {
  readonly contextId: string;
  readonly status: TaskState;
  readonly pageSize?: number | undefined;
  readonly pageToken: string;
  readonly statusTimestampAfter?: string | undefined;
}

export interface TaskPage {
  readonly rows: A2aTaskRow[];
  /** '' on the last page. */
  readonly nextPageToken: string;
  readonly pageSize: number;
  readonly totalSize: number;
}

/** Completed by run status alone: the final checkpoint decides between completed and interrupted. */
const SEEMS_COMPLETED = inStatesByRun(['TASK_STATE_COMPLETED']);
const PAGE_SIZE = 50;
const MAX_PAGE_SIZE = 100;

export type A2aTasks = ReturnType<typeof a2aTasks>;

/** Finds, reads and cancels tasks. */
export function a2aTasks(context: A2aContext) {
  const { tasks, services, clock } = context;
  const states = taskStates(context);
  const { find, finalize, taskContext, finalizeAll, save, notify } = states;

  async function cancelUnanswered(actor: Actor, row: A2aTaskRow, reason: string): Promise<TaskFinalization> {
    const { artifacts } = row;
    const at = timestamp(clock.now());
    return finalizationOf(context, await taskContext(actor, row), { state: CANCELED, reason, artifacts, at });
  }

  async function cancelRuns(actor: Actor, { task_id, thread_id }: A2aTaskRow, signal: AbortSignal) {
    // Newest first: the end of an earlier run would start the next one.
    for (const run_id of (await tasks.runsPendingArtifacts(task_id)).toReversed()) {
      await services.runs
        .cancel(actor, thread_id, run_id, { action: 'interrupt', wait: true }, signal)
        .catch(undefinedIfNotFound);
    }
  }

  return {
    find,
    finalize,
    taskContext,
    notify,

    /** Finalizations that cancel the thread's interrupted tasks, to commit with the run that supersedes them. */
    async unansweredTasks(actor: Actor, thread_id: string): Promise<TaskFinalization[]> {
      await finalizeAll(actor, { thread_id, states: SEEMS_COMPLETED });
      const waiting = await finalizeAll(actor, {
        thread_id,
        states: inStates(INTERRUPTED_STATE_NAMES),
      });
      const rows = waiting.filter((row) => INTERRUPTED_STATES.includes(stateOf(row)));
      return Promise.all(rows.map((row) => cancelUnanswered(actor, row, UNANSWERED)));
    },

    async view(actor: Actor, row: A2aTaskRow, scope: HistoryScope): Promise<Task> {
      return taskOf(await taskContext(actor, row), scope);
    },

    /** The task as submitted with its last message, without the run's output. */
    async asSubmitted(actor: Actor, row: A2aTaskRow, scope: HistoryScope): Promise<Task> {
      return submittedTaskOf(await taskContext(actor, row), scope);
    },

    /** The task, or the graph's direct message reply. */
    async answer(actor: Actor, row: A2aTaskRow, scope: HistoryScope): Promise<Task | Message> {
      const task = await taskContext(actor, row);
      return directAnswerOf(task) ?? taskOf(task, scope);
    },

    list: (actor: Actor, assistant_id: string, query: TaskListQuery) =>
      list(context, states, actor, assistant_id, query),

    /** Cancels a running or interrupted task; no-op if already cancelled. Throws `TaskNotCancelableError`. */
    async cancel(actor: Actor, assistant_id: string, id: string, signal: AbortSignal): Promise<A2aTaskRow> {
      let row = await find(actor, assistant_id, id, 'threads:update');
      if (!isStopped(stateOf(row))) {
        await cancelRuns(actor, row, signal);
        row = await find(actor, assistant_id, id, 'threads:update');
      }
      if (INTERRUPTED_STATES.includes(stateOf(row))) {
        await save(await cancelUnanswered(actor, row, 'Cancelled by the client.'));
        row = (await tasks.get(row.task_id)) ?? row;
      }
      if (stateOf(row) !== TaskState.TASK_STATE_CANCELED)
        throw new TaskNotCancelableError(`Task ${id} cannot be cancelled: ${stateNameOf(row)}`);
      return row;
    },
  };
}

/** `name`: the client's context id. */
export function isInContext(actor: Actor, { thread_id }: A2aTaskRow, name: string): boolean {
  return threadIdFromName(actor, name) === thread_id;
}

function parseStatus(status: TaskState): string {
  if (status === TaskState.UNRECOGNIZED) throw new RequestMalformedError('status is not a valid task state.');
  return taskStateToJSON(status);
}

function parseTimestamp(text: string | undefined): string | undefined {
  if (text === undefined || text === '') return undefined;
  if (Number.isNaN(Date.parse(text)))
    throw new RequestMalformedError('statusTimestampAfter must be an ISO-8601 timestamp.');
  return inUtc(text);
}

function pageTokenOf({ at, task_id }: A2aTaskRow): string {
  return Buffer.from(`${at} ${task_id}`).toString('base64url');
}

function cursorOf(token: string): { at: string; task_id: string } {
  const [at = '', task_id = ''] = Buffer.from(token, 'base64url').toString().split(' ');
  if (!isUuid(task_id) || !isTimestamp(at))
    throw new RequestMalformedError('pageToken is not one of this list.');
  return { at, task_id };
}

/** Newest state first, keyset pagination. Throws `RequestMalformedError` for an invalid page size or token. */
async function list(
  { tasks }: A2aContext,
  { finalize, finalizeAll }: TaskStates,
  actor: Actor,
  assistant_id: string,
  query: TaskListQuery,
): Promise<TaskPage> {
  const { contextId, status, pageSize: limit = PAGE_SIZE } = query;
  if (!Number.isInteger(limit) || limit < 1 || limit > MAX_PAGE_SIZE) {
    throw new RequestMalformedError(`pageSize must be from 1 to ${MAX_PAGE_SIZE}.`);
  }
  const visibility = await authorize(actor, 'threads:search', { contextId });
  const filter = {
    assistant_id,
    thread_id: contextId === '' ? undefined : threadIdFromName(actor, contextId),
    states: status === TaskState.TASK_STATE_UNSPECIFIED ? undefined : inStates([parseStatus(status)]),
    since: parseTimestamp(query.statusTimestampAfter),
  };
  const after = query.pageToken === '' ? undefined : cursorOf(query.pageToken);
  if (filter.states) await finalizeAll(actor, { ...filter, states: SEEMS_COMPLETED });
  const found = await tasks.list({ ...filter, after, limit: limit + 1 }, visibility);
  const page = found.slice(0, limit);
  const rows = await Promise.all(page.map(finalize));
  const nextPageToken = found.length > limit ? pageTokenOf(page.at(-1) as A2aTaskRow) : '';
  return { rows, nextPageToken, pageSize: limit, totalSize: await tasks.count(filter, visibility) };
}

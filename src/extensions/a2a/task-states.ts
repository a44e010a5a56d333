import { StreamResponse, type Task, TaskState, taskStateToJSON } from '@a2a-js/sdk';
import { V03PushNotificationSerializer } from '@a2a-js/sdk/compat/v0_3/server';
import { RequestMalformedError, TaskNotFoundError } from '@a2a-js/sdk/errors';
import { type AccessEvent, type Actor, systemActor } from '../../auth/actor.ts';
import { authorize } from '../../auth/authorize.ts';
import { timestamp } from '../../core/clock.ts';
import { undefinedIfNotFound } from '../../core/errors.ts';
import { isUuid } from '../../core/ids.ts';
import { isObject, toJson } from '../../core/json.ts';
import { isFinal } from '../../services/runs/transitions.ts';
import type { A2aContext } from './context.ts';
import { eventArtifacts } from './event-artifacts.ts';
import { stateNameOf } from './state-names.ts';
import type { TaskFinalization, TaskResult } from './storage/finalize-task.ts';
import type { NotificationBody } from './storage/push-configs.ts';
import type { A2aTaskQuery, A2aTaskRow } from './storage/tasks.ts';
import { agentOutputOf, isTerminal, stateOf, type TaskContext, taskOf } from './task-view.ts';

/** Page size when finalizing tasks. */
const BATCH = 100;

export const UNANSWERED = 'The conversation continued without an answer.';

export const CANCELED = taskStateToJSON(TaskState.TASK_STATE_CANCELED);

/** Finalization runs as the server, so that its result does not depend on which caller triggers it. */
const SERVER_ACTOR = systemActor('a2a');

export type TaskStates = ReturnType<typeof taskStates>;

/** Finalizes tasks: derives the task state from the final checkpoint of a run once, and stores it. */
export function taskStates(context: A2aContext) {
  const { tasks, services, clock, bus } = context;
  const taskContext = (actor: Actor, row: A2aTaskRow) => loadTaskContext(context, actor, row);
  /** Finalizations in progress, by run id (single flight). */
  const finalizing = new Map<string, Promise<A2aTaskRow>>();

  /**
   * Returns the finalized task if the actor may perform `event` on it. Also accepts `<thread id>:<run id>`, the form of
   * the official server. Throws `TaskNotFoundError`.
   */
  async function find(
    actor: Actor,
    assistant_id: string,
    id: string,
    event: AccessEvent = 'threads:read',
  ): Promise<A2aTaskRow> {
    // Fields that 0.3 clients omit are `undefined` here.
    if (typeof id !== 'string' || id.trim() === '')
      throw new RequestMalformedError('The id of the task is missing.');
    const task_id = id.split(':').at(-1) as string;
    const visibility = await authorize(actor, event, { task_id });
    const row = isUuid(task_id) ? await tasks.get(task_id, visibility) : undefined;
    if (row?.assistant_id !== assistant_id) throw new TaskNotFoundError(`Task not found: ${id}`);
    return finalize(row);
  }

  /** Finalizes a task whose run has ended; concurrent callers share one promise. */
  function finalize(row: A2aTaskRow): Promise<A2aTaskRow> {
    if (!isFinal(row.run_status) || (row.state !== null && isTerminal(stateOf(row))))
      return Promise.resolve(row);
    const known = finalizing.get(row.run_id);
    if (known !== undefined) return known;
    const found = finalizeNow(row).finally(() => finalizing.delete(row.run_id));
    finalizing.set(row.run_id, found);
    return found;
  }

  async function finalizeNow(row: A2aTaskRow): Promise<A2aTaskRow> {
    const task = await taskContext(SERVER_ACTOR, row);
    const end = finalStateOf(task, timestamp(clock.now()));
    if (end.state === row.state) return row;
    const collected_runs = row.state !== null ? [] : await tasks.runsPendingArtifacts(row.task_id);
    const artifacts = await eventArtifacts(services.runs, SERVER_ACTOR, task, collected_runs);
    await save(finalizationOf(context, task, { ...end, artifacts }, collected_runs));
    return (await tasks.get(row.task_id)) ?? row;
  }

  async function save(finalization: TaskFinalization): Promise<void> {
    if (await tasks.finalize(finalization)) notify(finalization);
  }

  function notify({ row: { task_id } }: TaskFinalization): void {
    bus.updated(task_id);
    bus.emit('delivery.queued');
  }

  async function finalizeAll(actor: Actor, query: Omit<A2aTaskQuery, 'limit'>): Promise<A2aTaskRow[]> {
    const visibility = await authorize(actor, 'threads:search', { ...query });
    const rows: A2aTaskRow[] = [];
    for (let page: A2aTaskRow[] | undefined; !page || page.length === BATCH; ) {
      const last = page?.at(-1);
      page = await tasks.list({ ...query, after: last, limit: BATCH }, visibility);
      for (const row of page) rows.push(await finalize(row));
    }
    return rows;
  }

  return {
    find,
    finalize,
    taskContext,
    finalizeAll,
    save,
    notify,
  };
}

/** The task result to store, with its push notification. */
export function finalizationOf(
  { sends_webhooks }: A2aContext,
  task: TaskContext,
  result: TaskResult,
  collected_runs: readonly string[] = [],
): TaskFinalization {
  const { row } = task;
  const { state, reason = null, at = row.at } = result;
  const after = { ...row, state, reason, at, artifacts: [...result.artifacts] };
  const notification = sends_webhooks
    ? pushPayload(() => taskOf({ ...task, row: after }, 'task'))
    : undefined;
  return { row, result, collected_runs, notification };
}

function finalStateOf(
  { row, state, interrupts, agent_output: agentOutput, is_newest }: TaskContextAtCheckpoint,
  now: string,
): Omit<TaskResult, 'artifacts'> {
  // The task still asks what a refused answer was to answer.
  const stops = row.run_status === 'success' || row.error?.reason !== undefined;
  if (!stops) return { state: stateNameOf(row) };
  if (state && (state.next.length > 0 || interrupts.length > 0)) {
    if (!is_newest) return { state: CANCELED, reason: UNANSWERED, at: now };
    const is_auth = interrupts.some(({ value }) => isObject(value) && value['type'] === 'auth_required');
    return { state: `TASK_STATE_${is_auth ? 'AUTH' : 'INPUT'}_REQUIRED` };
  }
  const { reject } = agentOutput;
  if (typeof reject === 'string') return { state: 'TASK_STATE_REJECTED', reason: reject };
  return { state: 'TASK_STATE_COMPLETED' };
}

export interface TaskContextAtCheckpoint extends TaskContext {
  /** `true` if the task's last checkpoint is the thread's newest. */
  readonly is_newest: boolean;
}

/** Loads a task's turns and the thread state that its runs produced. */
async function loadTaskContext(
  { tasks, services: { threads, threadState }, cardDataOf }: A2aContext,
  actor: Actor,
  row: A2aTaskRow,
): Promise<TaskContextAtCheckpoint> {
  const { thread_id } = row;
  const turns = await tasks.turns(row.task_id);
  const run_ids = turns.map(({ run_id }) => run_id);
  const [last, card] = await Promise.all([
    tasks.lastCheckpoint(thread_id, run_ids),
    // Tasks outlive a deleted assistant.
    cardDataOf(actor, row.assistant_id).catch(undefinedIfNotFound),
  ]);
  const at = last && { checkpoint_id: last.checkpoint_id };
  const state = at && (await threadState.at(actor, thread_id, at, {}).catch(undefinedIfNotFound));
  const is_newest = last?.is_newest ?? true;
  const interrupts = (state?.tasks ?? []).flatMap((task) => task.interrupts);
  const isPaused = isFinal(row.run_status) && state !== undefined && state.next.length > 0;
  // Only the thread's row has what the server itself asks, such as whether to exceed a budget.
  const thread =
    isPaused && is_newest && interrupts.length === 0
      ? await threads.get(actor, thread_id).catch(undefinedIfNotFound)
      : undefined;
  const agentOutput = last?.written.includes('a2a') ? agentOutputOf(state) : {};
  return {
    row,
    turns,
    state,
    interrupts: thread ? Object.values(thread.interrupts ?? {}).flat() : interrupts,
    agent_output: agentOutput,
    outputs: card?.outputs ?? [],
    is_newest,
  };
}

const legacy = new V03PushNotificationSerializer();

/**
 * Push payload: the whole task, so that each notification is self-contained. 1.0 wraps it as a stream event. Built
 * lazily, only if the task has subscribers.
 */
function pushPayload(taskOf: () => Task): NotificationBody {
  return (version) => {
    const event: StreamResponse = { payload: { $case: 'task', value: taskOf() } };
    return version === '0.3' ? legacy.serialize(event).body : toJson(StreamResponse.toJSON(event));
  };
}

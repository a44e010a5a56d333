import { TaskState, taskStateToJSON } from '@a2a-js/sdk';
import { RequestMalformedError, TaskNotFoundError } from '@a2a-js/sdk/errors';
import { type AccessEvent, type Actor, systemActor } from '../../auth/actor.ts';
import { authorize } from '../../auth/authorize.ts';
import { type Clock, timestamp } from '../../core/clock.ts';
import { isUuid } from '../../core/ids.ts';
import { isObject } from '../../core/json.ts';
import type { EventBus } from '../../events/bus.ts';
import type { SettledTask, Settlement } from '../../storage/a2a/finalize-task.ts';
import type { A2aTaskQuery, A2aTaskRepository, A2aTaskRow } from '../../storage/a2a/tasks.ts';
import type { RunService } from '../runs.ts';
import { isFinal } from '../transitions.ts';
import { tellOf } from './notices.ts';
import { shownArtifacts } from './shown-artifacts.ts';
import { type FoundFacts, factsOfTask, type TaskFactsDeps } from './task-facts.ts';
import { interruptsOf, isTerminal, stateOf, type TaskFacts, taskOf } from './task-view.ts';

export interface A2aTaskDeps extends TaskFactsDeps {
  readonly tasks: A2aTaskRepository;
  readonly runs: Pick<RunService, 'cancel' | 'joinStream'>;
  readonly clock: Clock;
  readonly bus: Pick<EventBus, 'hint' | 'outbox'>;
  /** False: subscribers are told nothing (`http.disable_webhooks`). */
  readonly sends_webhooks: boolean;
}

/** Tasks that are brought up to date at once. */
const BATCH = 100;

export const UNANSWERED = 'The conversation continued without an answer.';

export const CANCELED = taskStateToJSON(TaskState.TASK_STATE_CANCELED);

/** Whoever asks first, what became of a task is found out by the server itself, and is the same for all. */
const SERVER = systemActor('a2a');

export type TaskStates = ReturnType<typeof taskStates>;

/** Brings tasks up to date with their runs: what the state after a run says is read once, and kept. */
export function taskStates(deps: A2aTaskDeps) {
  const { tasks, clock, bus } = deps;
  const factsFor = (actor: Actor, row: A2aTaskRow) => factsOfTask(deps, actor, row);
  /** What is being found out now, by run. */
  const settling = new Map<string, Promise<A2aTaskRow>>();

  /**
   * The task as it stands, for who may do this. Also by `<thread id>:<run id>`, the form of the official server. Throws
   * `TaskNotFoundError`.
   */
  async function find(
    actor: Actor,
    assistant_id: string,
    id: string,
    event: AccessEvent = 'threads:read',
  ): Promise<A2aTaskRow> {
    // What clients of 0.3 leave out is undefined here.
    if (typeof id !== 'string' || id.trim() === '')
      throw new RequestMalformedError('The id of the task is missing.');
    const task_id = id.split(':').at(-1) as string;
    const visibility = await authorize(actor, event, { task_id });
    const row = isUuid(task_id) ? await tasks.get(task_id, visibility) : undefined;
    if (row?.assistant_id !== assistant_id) throw new TaskNotFoundError(`Task not found: ${id}`);
    return settled(row);
  }

  /** Reads once what the state after the run says, and keeps it. */
  function settled(row: A2aTaskRow): Promise<A2aTaskRow> {
    if (!isFinal(row.run_status) || (row.is_settled && isTerminal(stateOf(row)))) return Promise.resolve(row);
    const known = settling.get(row.run_id);
    if (known) return known;
    const found = settle(row).finally(() => settling.delete(row.run_id));
    settling.set(row.run_id, found);
    return found;
  }

  async function settle(row: A2aTaskRow): Promise<A2aTaskRow> {
    const facts = await factsFor(SERVER, row);
    const end = endOf(facts, timestamp(clock.now()));
    if (row.is_settled && end.state === row.state) return row;
    const kept_runs = row.is_settled ? [] : await tasks.unkeptRuns(row.task_id);
    const artifacts = await shownArtifacts(deps.runs, SERVER, facts, kept_runs);
    await keep(settlementOf(facts, { ...end, artifacts }, kept_runs));
    return (await tasks.get(row.task_id)) ?? row;
  }

  /** What is kept of the end of a task, and told. */
  function settlementOf(facts: TaskFacts, end: SettledTask, kept_runs: readonly string[] = []): Settlement {
    const { row } = facts;
    const { state, reason = null, at = row.at } = end;
    const after = { ...row, state, reason, at, artifacts: [...end.artifacts], is_settled: true };
    const tell = deps.sends_webhooks ? tellOf(() => taskOf({ ...facts, row: after }, 'task')) : undefined;
    return { row, end, kept_runs, tell };
  }

  async function keep(settlement: Settlement): Promise<void> {
    if (await tasks.settle(settlement)) announce(settlement);
  }

  function announce({ row: { task_id } }: Settlement): void {
    bus.hint(task_id);
    bus.outbox();
  }

  async function settleAll(actor: Actor, query: Omit<A2aTaskQuery, 'limit'>): Promise<A2aTaskRow[]> {
    const visibility = await authorize(actor, 'threads:search', { ...query });
    const rows: A2aTaskRow[] = [];
    for (let page: A2aTaskRow[] | undefined; !page || page.length === BATCH; ) {
      const last = page?.at(-1);
      page = await tasks.list({ ...query, after: last, limit: BATCH }, visibility);
      for (const row of page) rows.push(await settled(row));
    }
    return rows;
  }

  return { find, settled, factsFor, settleAll, settlementOf, keep, announce };
}

function endOf({ row, state, said, is_newest }: FoundFacts, now: string): Omit<SettledTask, 'artifacts'> {
  if (row.run_status !== 'success') return { state: row.state };
  const interrupts = interruptsOf(state);
  if (state && (state.next.length > 0 || interrupts.length > 0)) {
    if (!is_newest) return { state: CANCELED, reason: UNANSWERED, at: now };
    const is_auth = interrupts.some(({ value }) => isObject(value) && value['type'] === 'auth_required');
    return { state: `TASK_STATE_${is_auth ? 'AUTH' : 'INPUT'}_REQUIRED` };
  }
  const { reject } = said;
  if (typeof reject === 'string') return { state: 'TASK_STATE_REJECTED', reason: reject };
  return { state: 'TASK_STATE_COMPLETED' };
}

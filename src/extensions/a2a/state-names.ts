import type { TaskState } from '@a2a-js/sdk';
import type { RunStatus } from '../../schemas/runs.ts';
import type { A2aTaskRow, TaskStateFilter } from './storage/tasks.ts';

/**
 * Name of a task state in protocol 1.0 JSON and in storage. Imports the A2A library as types only: workers load this
 * file on servers without A2A traffic.
 */
export type TaskStateName = Exclude<keyof typeof TaskState, 'UNRECOGNIZED' | 'TASK_STATE_UNSPECIFIED'>;

/** Provisional task state by run status, until the task is finalized. */
const STATE_OF_RUN: Readonly<Record<RunStatus, TaskStateName>> = {
  pending: 'TASK_STATE_SUBMITTED',
  running: 'TASK_STATE_WORKING',
  success: 'TASK_STATE_COMPLETED',
  interrupted: 'TASK_STATE_CANCELED',
  error: 'TASK_STATE_FAILED',
  timeout: 'TASK_STATE_FAILED',
};

/** The protocol's interrupted states: the client must respond. */
export const INTERRUPTED_STATE_NAMES = [
  'TASK_STATE_INPUT_REQUIRED',
  'TASK_STATE_AUTH_REQUIRED',
] as const satisfies readonly TaskStateName[];

/** The stored state of a finalized task, else the provisional state of its run. */
export function stateNameOf({ state, run_status }: Pick<A2aTaskRow, 'state' | 'run_status'>): string {
  return state ?? STATE_OF_RUN[run_status];
}

/** Filter for tasks whose `stateNameOf` is one of `names`. */
export function inStates(names: readonly string[]): TaskStateFilter {
  return { finalized: names, run_statuses: runStatusesOf(names) };
}

/** Filter for unfinalized tasks whose provisional state is one of `names`; finalizing may change it. */
export function inStatesByRun(names: readonly TaskStateName[]): TaskStateFilter {
  return { finalized: [], run_statuses: runStatusesOf(names) };
}

function runStatusesOf(names: readonly string[]): RunStatus[] {
  const statuses = Object.keys(STATE_OF_RUN) as RunStatus[];
  return statuses.filter((status) => names.includes(STATE_OF_RUN[status]));
}

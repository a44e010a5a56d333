import type { TaskState } from '@a2a-js/sdk';
import type { RunStatus } from '../../schemas/runs.ts';
import type { A2aTaskRow, TaskStateFilter } from '../../storage/a2a/tasks.ts';

/**
 * A task state as JSON of protocol 1.0 and storage have it. This file does without the protocol's library at run time:
 * workers read it on servers that no A2A client has called.
 */
export type TaskStateName = Exclude<keyof typeof TaskState, 'UNRECOGNIZED' | 'TASK_STATE_UNSPECIFIED'>;

/** The state of a task until what its run left behind was read. */
const STATE_OF_RUN: Readonly<Record<RunStatus, TaskStateName>> = {
  pending: 'TASK_STATE_SUBMITTED',
  running: 'TASK_STATE_WORKING',
  success: 'TASK_STATE_COMPLETED',
  interrupted: 'TASK_STATE_CANCELED',
  error: 'TASK_STATE_FAILED',
  timeout: 'TASK_STATE_FAILED',
};

/** The client's turn: the protocol's interrupted states. */
export const INTERRUPTED_STATE_NAMES = [
  'TASK_STATE_INPUT_REQUIRED',
  'TASK_STATE_AUTH_REQUIRED',
] as const satisfies readonly TaskStateName[];

/** The stored state of a finalized task, else that of its run. */
export function stateNameOf({ state, run_status }: Pick<A2aTaskRow, 'state' | 'run_status'>): string {
  return state ?? STATE_OF_RUN[run_status];
}

/** Finds the tasks for which `stateNameOf` is one of these. */
export function inStates(names: readonly string[]): TaskStateFilter {
  return { finalized: names, run_statuses: runStatusesOf(names) };
}

/** Finds the tasks that have one of these by their run alone, and may turn out to be in another. */
export function inStatesByRun(names: readonly TaskStateName[]): TaskStateFilter {
  return { finalized: [], run_statuses: runStatusesOf(names) };
}

function runStatusesOf(names: readonly string[]): RunStatus[] {
  const statuses = Object.keys(STATE_OF_RUN) as RunStatus[];
  return statuses.filter((status) => names.includes(STATE_OF_RUN[status]));
}

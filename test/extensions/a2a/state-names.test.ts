import { TaskState, taskStateFromJSON, taskStateToJSON } from '@a2a-js/sdk';
import { expect, test } from 'vitest';
import {
  INTERRUPTED_STATE_NAMES,
  inStates,
  inStatesByRun,
  stateNameOf,
} from '../../../src/extensions/a2a/state-names.ts';
import type { RunStatus } from '../../../src/schemas/runs.ts';

test.each<[RunStatus, string]>([
  ['pending', 'TASK_STATE_SUBMITTED'],
  ['running', 'TASK_STATE_WORKING'],
  ['success', 'TASK_STATE_COMPLETED'],
  ['interrupted', 'TASK_STATE_CANCELED'],
  ['error', 'TASK_STATE_FAILED'],
  ['timeout', 'TASK_STATE_FAILED'],
])('an A2A task whose run is %s and that is not finalized has state %s', (run_status, name) => {
  expect(stateNameOf({ state: null, run_status })).toBe(name);
  expect(taskStateToJSON(taskStateFromJSON(name))).toBe(name);
});

test('a finalized A2A task has its own state, not that of its run', () => {
  expect(stateNameOf({ state: 'TASK_STATE_REJECTED', run_status: 'success' })).toBe('TASK_STATE_REJECTED');
});

test('a search for an A2A state includes tasks by stored state and by status of their runs', () => {
  expect(inStates(['TASK_STATE_FAILED'])).toEqual({
    finalized: ['TASK_STATE_FAILED'],
    run_statuses: ['error', 'timeout'],
  });
  expect(inStates(['TASK_STATE_REJECTED']).run_statuses).toEqual([]);
  expect(inStatesByRun(['TASK_STATE_COMPLETED'])).toEqual({ finalized: [], run_statuses: ['success'] });
});

test('the interrupted states of A2A tasks are those of the protocol', () => {
  expect(INTERRUPTED_STATE_NAMES.map(taskStateFromJSON)).toEqual([
    TaskState.TASK_STATE_INPUT_REQUIRED,
    TaskState.TASK_STATE_AUTH_REQUIRED,
  ]);
});

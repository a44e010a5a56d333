import type { Tone } from '../../ui/pill.tsx';
import type { ShownStep } from '../run/run-queries.ts';

/** `ahead`: the run has not reached this node. */
export type NodeStatus = 'ahead' | 'running' | 'done' | 'waits' | 'failed' | 'cancelled';

export interface NodeState {
  readonly status: NodeStatus;
  /** Number of its steps with this status. */
  readonly times: number;
  /** Steps of this node, in order of their start. */
  readonly steps: readonly ShownStep[];
}

export const STATUS_TONES: Readonly<Record<NodeStatus, Tone>> = {
  ahead: 'idle',
  running: 'run',
  done: 'ok',
  waits: 'wait',
  failed: 'err',
  cancelled: 'idle',
};

const STATUSES: Readonly<Record<ShownStep['status'], NodeStatus>> = {
  running: 'running',
  success: 'done',
  interrupted: 'waits',
  error: 'failed',
  cancelled: 'cancelled',
};

/** Node path of a step, as in ids of x-rayed drawings: names joined by `:`, without task ids. */
function pathOf({ namespace, name }: Pick<ShownStep, 'namespace' | 'name'>): string {
  const levels = namespace === '' ? [] : namespace.split('|').map((level) => level.replace(/:.*$/, ''));
  return [...levels, name].join(':');
}

/**
 * States of the nodes by id. A node with an executing step is running, whatever its other steps are. `next` has the names of
 * nodes that execute or wait for an answer, once per task; it takes precedence over the steps.
 */
export function nodeStates(
  steps: readonly ShownStep[],
  next: readonly string[],
  status: 'running' | 'waits',
): ReadonlyMap<string, NodeState> {
  const states = new Map<string, NodeState>();
  const nodes = Map.groupBy(
    steps.filter(({ kind }) => kind === 'node'),
    pathOf,
  );
  for (const [path, own] of nodes) {
    const last = own.find((step) => step.status === 'running') ?? own.at(-1);
    const times = own.filter((step) => step.status === last?.status).length;
    states.set(path, { status: last ? STATUSES[last.status] : 'ahead', times, steps: own });
  }
  for (const [name, tasks] of Map.groupBy(next, (each) => each)) {
    states.set(name, { status, times: tasks.length, steps: states.get(name)?.steps ?? [] });
  }
  return states;
}

/** A state as text: `done 3×`. */
export function stateText({ status, times }: NodeState): string {
  return times > 1 ? `${status} ${times}×` : status;
}

import type { Tone } from '../../ui/pill.tsx';
import type { Step } from '../run/run-queries.ts';

/** `ahead`: the run has not come to this node. */
export type NodeStatus = 'ahead' | 'running' | 'done' | 'waits' | 'failed' | 'cancelled';

export interface NodeState {
  readonly status: NodeStatus;
  /** How often it ended well. */
  readonly times: number;
  /** Of this node, in the order in which they began. */
  readonly steps: readonly Step[];
}

export const STATUS_TONES: Readonly<Record<NodeStatus, Tone>> = {
  ahead: 'idle',
  running: 'run',
  done: 'ok',
  waits: 'wait',
  failed: 'err',
  cancelled: 'idle',
};

const STATUSES: Readonly<Record<Step['status'], NodeStatus>> = {
  success: 'done',
  interrupted: 'waits',
  error: 'failed',
  cancelled: 'cancelled',
};

/** The path of the node of a step, as ids of x-rayed drawings have it: names with `:` between, without ids of tasks. */
function pathOf({ namespace, name }: Pick<Step, 'namespace' | 'name'>): string {
  const levels = namespace === '' ? [] : namespace.split('|').map((level) => level.replace(/:.*$/, ''));
  return [...levels, name].join(':');
}

/** States of the nodes by id. `next`: nodes that execute now, or wait for an answer. */
export function nodeStates(
  steps: readonly Step[],
  next: readonly string[],
  status: 'running' | 'waits',
): ReadonlyMap<string, NodeState> {
  const states = new Map<string, NodeState>();
  const nodes = Map.groupBy(
    steps.filter(({ kind }) => kind === 'node'),
    pathOf,
  );
  for (const [path, own] of nodes) {
    const last = own.at(-1);
    const times = own.filter((step) => step.status === 'success').length;
    states.set(path, { status: last ? STATUSES[last.status] : 'ahead', times, steps: own });
  }
  for (const name of next) {
    const { times = 0, steps = [] } = states.get(name) ?? {};
    states.set(name, { status, times, steps });
  }
  return states;
}

/** A state in words: `done 3×`. */
export function stateText({ status, times }: NodeState): string {
  return times > 1 ? `${status} ${times}×` : status;
}

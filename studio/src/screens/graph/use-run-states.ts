import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { explanationQuery, pollOf, stepsQuery } from '../run/run-queries.ts';
import { nextNodesQuery } from './graph-queries.ts';
import { type NodeState, nodeStates } from './node-states.ts';

export interface RunStates {
  readonly status: string | undefined;
  /** Keyed by node id. `undefined` without a run. */
  readonly states: ReadonlyMap<string, NodeState> | undefined;
  readonly error: Error | null;
}

/** States of the nodes in a run, live. */
export function useRunStates(run_id: string | undefined): RunStates {
  const enabled = run_id !== undefined;
  const id = run_id ?? '';
  const { data: explanation, error } = useQuery({ ...explanationQuery(id), enabled });
  const status = explanation?.status;
  const refetchInterval = pollOf(status);
  const { data: recorded } = useQuery({ ...stepsQuery(id), enabled, refetchInterval });
  const { data: state } = useQuery({
    ...nextNodesQuery(id, explanation?.thread_id ?? ''),
    // A run that stopped at a breakpoint has status success.
    enabled: enabled && (refetchInterval !== false || status === 'interrupted' || status === 'success'),
    refetchInterval,
  });
  const states = useMemo(() => {
    if (!enabled || status === undefined) return undefined;
    // The thread may have continued with another run.
    const isOwn = state?.metadata?.['run_id'] === id;
    const isStopped = isOwn && (status === 'interrupted' || status === 'success');
    const executing = status === 'running' ? (recorded?.current ?? []) : [];
    // Executing nodes are known, unless their process does not respond or records none.
    const isNext = isStopped || (status === 'running' && !executing.some(({ kind }) => kind === 'node'));
    return nodeStates(
      [...(recorded?.steps ?? []), ...executing],
      isNext && state ? state.next : [],
      status === 'running' ? 'running' : 'waits',
    );
  }, [enabled, id, status, state, recorded]);
  return { status, states, error };
}

import { useQuery } from '@tanstack/react-query';
import { explanationQuery } from '../run/run-queries.ts';
import { stepValuesQuery } from './graph-queries.ts';
import { useRunStates } from './use-run-states.ts';

/** The state before the last step of a node in a run. No data without a step. */
export function useLastState(node: string, run_id: string | undefined) {
  const { states } = useRunStates(run_id);
  const { data: explanation } = useQuery({
    ...explanationQuery(run_id ?? ''),
    enabled: run_id !== undefined,
  });
  const step = states?.get(node)?.steps.at(-1);
  const isKnown = step !== undefined && step.checkpoint_id !== null && explanation !== undefined;
  return useQuery({
    ...stepValuesQuery(explanation?.thread_id ?? '', step ?? { namespace: '', checkpoint_id: null }, null),
    enabled: isKnown,
  });
}

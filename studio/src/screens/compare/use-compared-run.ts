import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import type { Schemas } from '../../api/client.ts';
import { explanationQuery, pollOf, runQuery, type ShownStep, stepsQuery } from '../run/run-queries.ts';
import { type TimelineRows, timelineRows } from '../run/timeline-rows.ts';

/** One of two runs that are compared. */
export interface ComparedRun {
  readonly run_id: string | undefined;
  readonly run: Schemas['Run'] | undefined;
  readonly explanation: Schemas['RunExplanation'] | undefined;
  readonly steps: readonly ShownStep[];
  /** `undefined` until the steps are loaded. */
  readonly timeline: TimelineRows | undefined;
  readonly error: Error | null;
}

/** Loads a run and its steps, live. */
export function useComparedRun(run_id: string | undefined): ComparedRun {
  const enabled = run_id !== undefined;
  const explanation = useQuery({ ...explanationQuery(run_id ?? ''), enabled });
  const { data: explained } = explanation;
  const place = { run_id: run_id ?? '', thread_id: explained?.thread_id ?? '' };
  const run = useQuery({ ...runQuery(place), enabled: explained !== undefined });
  const refetchInterval = pollOf(explained?.status);
  const steps = useQuery({ ...stepsQuery(run_id ?? ''), enabled, refetchInterval });
  const { data, dataUpdatedAt } = steps;
  return {
    run_id,
    run: run.data,
    explanation: explained,
    steps: useMemo(() => (data ? [...data.steps, ...data.current] : []), [data]),
    timeline: useMemo(() => data && timelineRows(data, dataUpdatedAt), [data, dataUpdatedAt]),
    error: explanation.error ?? run.error ?? steps.error,
  };
}

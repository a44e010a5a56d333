import type { UseQueryResult } from '@tanstack/react-query';
import { useSearch } from '@tanstack/react-router';
import { type ReactNode, useMemo } from 'react';
import type { Schemas } from '../../api/client.ts';
import { localTimes } from '../../ui/format.tsx';
import { Card } from '../../ui/page.tsx';
import { Empty, Failure, Loading } from '../../ui/states.tsx';
import { useSearchChange } from '../../ui/use-search-change.ts';
import type { Steps } from './run-queries.ts';
import { StepDetails } from './step-details.tsx';
import { type TimelineRows, timelineRows } from './timeline-rows.ts';

export interface DrawnSteps extends TimelineRows {
  /** Id of the selected step, from the address. */
  readonly selectedId: string | undefined;
  readonly select: (id: string) => void;
}

export interface StepsOfRun {
  readonly steps: UseQueryResult<Steps>;
  readonly explanation: Schemas['RunExplanation'];
}

interface StepsViewProps extends StepsOfRun {
  /** Renders the steps. */
  readonly children: (drawn: DrawnSteps) => ReactNode;
}

/** A view of the steps of a run, with the selected step next to it. */
export function StepsView({ steps, explanation, children }: StepsViewProps) {
  const { data, dataUpdatedAt, error, refetch } = steps;
  if (error) return <Failure error={error} retry={() => void refetch()} />;
  if (!data) return <Loading what="steps" />;
  if (data.steps.length + data.current.length === 0) {
    return explanation.status === 'pending' ? (
      <Empty title="Not started yet">{localTimes(explanation.summary)}</Empty>
    ) : (
      <Empty title="No steps">Steps appear with the checkpoint that stores their result.</Empty>
    );
  }
  return (
    <Panes data={data} now={dataUpdatedAt} explanation={explanation}>
      {children}
    </Panes>
  );
}

interface PanesProps extends Pick<StepsViewProps, 'children' | 'explanation'> {
  readonly data: Steps;
  /** Time of the last load, epoch ms. */
  readonly now: number;
}

function Panes({ data, now, explanation: { run_id, thread_id, error }, children }: PanesProps) {
  const { step } = useSearch({ from: '/runs/$runId' });
  const change = useSearchChange<{ step: string }>();
  const drawn = useMemo(() => timelineRows(data, now), [data, now]);
  // A failed run opens at its failed step, or at the one that was stopped. The innermost is the last.
  const lastWith = (status: string) => drawn.rows.findLast((row) => row.step?.status === status);
  const failed = error ? (lastWith('error') ?? lastWith('cancelled')) : undefined;
  const selectedId = step ?? failed?.id;
  const selected = drawn.rows.find(({ id }) => id === selectedId)?.step;
  return (
    <div className="grid min-h-0 flex-1 gap-4 lg:grid-cols-[minmax(0,1fr)_minmax(320px,42%)]">
      <Card className="flex min-h-80 min-w-0 flex-col overflow-hidden">
        {children({ ...drawn, selectedId, select: (id) => change({ step: id }) })}
      </Card>
      {selected ? (
        <StepDetails step={selected} start={drawn.start} thread_id={thread_id} runId={run_id} />
      ) : (
        <Card className="p-4 text-ink-3 max-lg:hidden">
          Select a step to see when it ran, what it used and how it ended.
        </Card>
      )}
    </div>
  );
}

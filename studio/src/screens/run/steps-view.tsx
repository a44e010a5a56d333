import type { UseQueryResult } from '@tanstack/react-query';
import { useSearch } from '@tanstack/react-router';
import { type ReactNode, useMemo } from 'react';
import type { Schemas } from '../../api/client.ts';
import { localTimes } from '../../ui/format.tsx';
import { Card } from '../../ui/page.tsx';
import { Empty, Failure, Loading } from '../../ui/states.tsx';
import type { Steps } from './run-queries.ts';
import { StepDetails } from './step-details.tsx';
import { type TimelineRows, timelineRows } from './timeline-rows.ts';

export interface DrawnSteps extends TimelineRows {
  /** Which step is selected; it is in the address. */
  readonly selectedId: string | undefined;
}

export interface StepsOfRun {
  readonly steps: UseQueryResult<Steps>;
  readonly explanation: Schemas['RunExplanation'];
}

interface StepsViewProps extends StepsOfRun {
  /** Draws the steps. */
  readonly children: (drawn: DrawnSteps) => ReactNode;
}

/** A drawing of the steps of a run, and beside it the selected one. */
export function StepsView({ steps, explanation, children }: StepsViewProps) {
  const { data, dataUpdatedAt, error, refetch } = steps;
  if (error) return <Failure error={error} retry={() => void refetch()} />;
  if (!data) return <Loading what="steps" />;
  if (data.steps.length + data.current.length === 0) {
    return explanation.status === 'pending' ? (
      <Empty title="Not begun yet">{localTimes(explanation.summary)}</Empty>
    ) : (
      <Empty title="No steps">Steps are recorded with the checkpoint that holds their result.</Empty>
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
  /** When it was read, epoch ms. */
  readonly now: number;
}

function Panes({ data, now, explanation: { thread_id, error }, children }: PanesProps) {
  const { step } = useSearch({ from: '/runs/$runId' });
  const drawn = useMemo(() => timelineRows(data, now), [data, now]);
  // Nobody opens a failed run for another step. The innermost one that failed is the last.
  const failed = error ? drawn.rows.findLast((row) => row.step?.status === 'error') : undefined;
  const selectedId = step ?? failed?.id;
  const selected = drawn.rows.find(({ id }) => id === selectedId)?.step;
  return (
    <div className="grid min-h-0 flex-1 gap-4 lg:grid-cols-[1fr_320px]">
      <Card className="flex min-h-80 min-w-0 flex-col overflow-hidden">
        {children({ ...drawn, selectedId })}
      </Card>
      {selected ? (
        <StepDetails step={selected} start={drawn.start} thread_id={thread_id} />
      ) : (
        <Card className="p-4 text-ink-3 max-lg:hidden">
          Select a step to see when it ran, what it used and how it ended.
        </Card>
      )}
    </div>
  );
}

import type { UseQueryResult } from '@tanstack/react-query';
import { useSearch } from '@tanstack/react-router';
import { type ReactNode, useMemo } from 'react';
import { Card } from '../../ui/page.tsx';
import { Empty, Failure, Loading } from '../../ui/states.tsx';
import type { Steps } from './run-queries.ts';
import { StepDetails } from './step-details.tsx';
import { type TimelineRows, timelineRows } from './timeline-rows.ts';

export interface DrawnSteps extends TimelineRows {
  /** Which step is selected; it is in the address. */
  readonly selectedId: string | undefined;
}

interface StepsViewProps {
  readonly steps: UseQueryResult<Steps>;
  /** Draws the steps. */
  readonly children: (drawn: DrawnSteps) => ReactNode;
}

/** A drawing of the steps of a run, and beside it the selected one. */
export function StepsView({ steps: { data, dataUpdatedAt, error, refetch }, children }: StepsViewProps) {
  if (error) return <Failure error={error} retry={() => void refetch()} />;
  if (!data) return <Loading what="steps" />;
  if (data.steps.length + data.current.length === 0) {
    return <Empty title="No steps">Steps are recorded with the checkpoint that holds their result.</Empty>;
  }
  return (
    <Panes data={data} now={dataUpdatedAt}>
      {children}
    </Panes>
  );
}

interface PanesProps extends Pick<StepsViewProps, 'children'> {
  readonly data: Steps;
  /** When it was read, epoch ms. */
  readonly now: number;
}

function Panes({ data, now, children }: PanesProps) {
  const { step: selectedId } = useSearch({ from: '/runs/$runId' });
  const drawn = useMemo(() => timelineRows(data, now), [data, now]);
  const selected = drawn.rows.find(({ id }) => id === selectedId)?.step;
  return (
    <div className="grid min-h-0 flex-1 gap-4 lg:grid-cols-[1fr_320px]">
      <Card className="flex min-h-80 min-w-0 flex-col overflow-hidden">
        {children({ ...drawn, selectedId })}
      </Card>
      {selected ? (
        <StepDetails step={selected} start={drawn.start} />
      ) : (
        <Card className="p-4 text-ink-3 max-lg:hidden">
          Select a step to see when it ran, what it used and how it ended.
        </Card>
      )}
    </div>
  );
}

import { useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useMemo } from 'react';
import { Page } from '../../ui/page.tsx';
import { Empty, Failure, Loading } from '../../ui/states.tsx';
import { PartsOf } from '../run/part.tsx';
import { StepDetails } from '../run/step-details.tsx';
import { recentRunsQuery } from '../runs/runs-query.ts';
import { PairTable } from './pair-table.tsx';
import { Side } from './side.tsx';
import { type StepPair, stepPairs } from './step-pairs.ts';
import { type ComparedRun, useComparedRun } from './use-compared-run.ts';

/** Two runs step by step. The runs and the selected step are in the address. */
export function Compare() {
  const { left: leftId, right: rightId, step } = useSearch({ from: '/compare' });
  const navigate = useNavigate({ from: '/compare' });
  const left = useComparedRun(leftId);
  const right = useComparedRun(rightId);
  const pairs = useMemo(
    () => stepPairs(left.timeline?.rows ?? [], right.timeline?.rows ?? []),
    [left.timeline, right.timeline],
  );
  const choose = (change: { left?: string; right?: string }) =>
    void navigate({ search: ({ step: _, ...before }) => ({ ...before, ...change }), replace: true });
  const selected = pairs.find(({ id }) => id === step);
  return (
    <Page title="Compare runs">
      <div className="grid flex-none gap-4 md:grid-cols-2">
        <Side name="Left" run={left} other={right} onChoose={(run) => choose({ left: run })} />
        <Side name="Right" run={right} other={left} onChoose={(run) => choose({ right: run })} />
      </div>
      {left.timeline && right.timeline ? (
        <PairTable
          pairs={pairs}
          left={left.timeline}
          right={right.timeline}
          selectedId={step}
          onSelect={(id) => void navigate({ search: (before) => ({ ...before, step: id }), replace: true })}
        />
      ) : (
        <NoPair isChosen={leftId !== undefined && rightId !== undefined} error={left.error ?? right.error} />
      )}
      {selected && <Contents pair={selected} left={left} right={right} />}
    </Page>
  );
}

interface NoPairProps {
  /** Both runs are, and are being loaded. */
  readonly isChosen: boolean;
  /** Of one that cannot be. */
  readonly error: Error | null;
}

/** While a run is missing: whether there are any to choose from. */
function NoPair({ isChosen, error: refused }: NoPairProps) {
  const { data, error, refetch } = useQuery(recentRunsQuery());
  if (isChosen) return refused ? null : <Loading what="the steps" />;
  if (error) return <Failure error={error} retry={() => void refetch()} />;
  if (!data) return <Loading what="runs" />;
  return (
    <Empty title="Choose two runs">Their steps are shown side by side, with time, tokens and cost.</Empty>
  );
}

interface ContentsProps {
  readonly pair: StepPair;
  readonly left: ComparedRun;
  readonly right: ComparedRun;
}

/** What the step was given and returned in each run. */
function Contents({ pair, left, right }: ContentsProps) {
  const sides = [
    ['Left', left, pair.left],
    ['Right', right, pair.right],
  ] as const;
  return (
    <div className="grid flex-none gap-4 lg:grid-cols-2">
      {sides.map(([name, { explanation, timeline }, row]) => (
        <section key={name} aria-label={`${name} step`} className="flex min-w-0 flex-col">
          {row && explanation && timeline ? (
            <PartsOf value={name.toLowerCase()}>
              <StepDetails
                step={row.step}
                start={timeline.start}
                thread_id={explanation.thread_id}
                runId={explanation.run_id}
              />
            </PartsOf>
          ) : (
            <p className="p-4 text-ink-3">This run has no such step.</p>
          )}
        </section>
      ))}
    </div>
  );
}

import { Link } from '@tanstack/react-router';
import { lazy, Suspense } from 'react';
import { CopyButton } from '../../ui/copy-button.tsx';
import { count, duration } from '../../ui/format.tsx';
import { ID_LINK } from '../../ui/id-links.tsx';
import { useMoney } from '../../ui/money.ts';
import { Card, Facts } from '../../ui/page.tsx';
import { StatusPill } from '../../ui/pill.tsx';
import { Loading } from '../../ui/states.tsx';
import type { ShownStep } from './run-queries.ts';

const StepContents = lazy(() =>
  import('./step-contents.tsx').then(({ StepContents }) => ({ default: StepContents })),
);

interface StepDetailsProps {
  readonly step: ShownStep;
  /** Start of its run, epoch ms. */
  readonly start: number;
  readonly thread_id: string;
  readonly runId: string;
}

const NO_PRICE = 'unknown: no price or no tokens';

/** One step: when it ran, what it used and how it ended. */
export function StepDetails({ step, start, thread_id, runId }: StepDetailsProps) {
  const isStored = 'cost' in step;
  const money = useMoney();
  const from = Date.parse(step.started_at);
  return (
    <Card className="flex min-w-0 flex-col gap-4 overflow-auto p-4">
      <div className="flex items-center gap-2">
        <h2 className="truncate font-semibold">{step.name}</h2>
        {step.node !== null && step.node !== step.name && (
          <span className="min-w-0 truncate text-ink-3">in {step.node}</span>
        )}
        <span className="ml-auto">
          <StatusPill status={step.status} />
        </span>
      </div>
      <Facts
        items={[
          ['Started', `+${duration(from - start)}`],
          ['Took', step.ended_at === null ? 'still running' : duration(Date.parse(step.ended_at) - from)],
          ...(step.model ? [['Model', step.model] as const] : []),
          ...(step.tokens_in !== null
            ? [['Tokens', `${count(step.tokens_in)} in · ${count(step.tokens_out ?? 0)} out`] as const]
            : []),
          ...(step.tokens_cached ? [['Cached', `${count(step.tokens_cached)} of them`] as const] : []),
          ...('cost' in step && step.kind === 'model'
            ? [['Cost', step.cost === null ? NO_PRICE : money(step.cost)] as const]
            : []),
          ['Attempt', step.attempt],
          ...(step.checkpoint_id
            ? [['Checkpoint', <CheckpointId key="id" {...{ step, thread_id }} />] as const]
            : []),
          [
            'Span',
            <span key="id" className="flex flex-wrap items-center gap-x-1">
              <span className="font-mono text-xs">{step.span_id}</span>
              <CopyButton text={step.span_id} what="span id" className="-my-1" />
            </span>,
          ],
        ]}
      />
      {step.error && !isStored && (
        <div>
          <h3 className="font-medium text-err">{step.error.error}</h3>
          <p className="break-words whitespace-pre-wrap">{step.error.message}</p>
        </div>
      )}
      {isStored && (
        <Suspense fallback={<Loading what="its contents" />}>
          <StepContents key={`${step.attempt}.${step.number}`} runId={runId} step={step} />
        </Suspense>
      )}
    </Card>
  );
}

/** Link to the checkpoint in the thread inspector, which does not show checkpoints of subgraphs. */
function CheckpointId({ step, thread_id }: Pick<StepDetailsProps, 'step' | 'thread_id'>) {
  const { checkpoint_id, namespace } = step;
  if (checkpoint_id === null || namespace !== '')
    return <span className="font-mono text-xs">{checkpoint_id}</span>;
  return (
    <Link
      to="/threads/$threadId"
      params={{ threadId: thread_id }}
      search={{ checkpoint: checkpoint_id }}
      className={ID_LINK}
    >
      {checkpoint_id}
    </Link>
  );
}

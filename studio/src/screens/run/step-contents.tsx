import { useQuery } from '@tanstack/react-query';
import { CopyButton } from '../../ui/copy-button.tsx';
import { Json } from '../../ui/json.tsx';
import { Failure, Loading } from '../../ui/states.tsx';
import { ModelCall } from './model-call.tsx';
import { NodeUpdate } from './node-update.tsx';
import { Part } from './part.tsx';
import { type Step, stepQuery } from './run-queries.ts';
import { StepFailure } from './step-failure.tsx';

interface StepContentsProps {
  readonly runId: string;
  readonly step: Step;
}

/** What a step was given and returned, and why it failed. */
export function StepContents({ runId, step }: StepContentsProps) {
  const id = `${step.attempt}.${step.number}`;
  const { data, error, refetch } = useQuery(stepQuery(runId, id));
  if (error) return <Failure error={error} retry={() => void refetch()} />;
  if (!data) return <Loading what="its contents" />;
  const { contents } = data;
  if (!contents) {
    const isCancelled = step.status === 'cancelled';
    // What a node is given is in the checkpoint.
    if (isCancelled && step.kind === 'node')
      return <p className="text-ink-3">It was cancelled before it returned anything.</p>;
    return (
      <p className="text-ink-3">
        {isCancelled && 'It was cancelled before it returned anything. '}
        What it was given and returned was not recorded. The server records it with{' '}
        <code className="font-mono text-xs">runs.record: contents</code>.
      </p>
    );
  }
  return (
    <>
      {contents.failure && <StepFailure causes={contents.failure} />}
      {step.kind === 'model' && <ModelCall details={data} contents={contents} />}
      {step.kind === 'node' && <NodeUpdate details={data} update={contents.output} />}
      {step.kind !== 'model' && isGiven(contents.input) && (
        <Part title={step.kind === 'tool' ? 'Arguments' : 'Input'}>
          <Value value={contents.input} label="Input" />
        </Part>
      )}
      {step.kind !== 'model' && step.kind !== 'node' && isGiven(contents.output) && (
        <Part title="Result">
          <Value value={contents.output} label="Result" />
        </Part>
      )}
      <p className="flex items-center gap-1 text-ink-3">
        Contents as JSON
        <CopyButton text={JSON.stringify(contents, null, 2)} what="the contents as JSON" className="-my-1" />
      </p>
    </>
  );
}

function isGiven(value: unknown): boolean {
  return value !== null && value !== undefined;
}

/** Texts as they are, other values as JSON. */
function Value({ value, label }: { value: unknown; label: string }) {
  if (typeof value !== 'string') return <Json value={value} label={label} />;
  return <p className="rounded-lg bg-sunk p-3 break-words whitespace-pre-wrap">{value}</p>;
}

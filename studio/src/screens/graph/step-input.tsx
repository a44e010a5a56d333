import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { Json } from '../../ui/json.tsx';
import { Failure, Loading } from '../../ui/states.tsx';
import { explanationQuery, type ShownStep } from '../run/run-queries.ts';
import { stepValuesQuery } from './graph-queries.ts';

interface StepInputProps {
  readonly runId: string;
  readonly step: ShownStep;
  /** The root graph's checkpoint before the step, or before its parent step. */
  readonly checkpointId: string | null;
  /** Channels of the graph's state. None if the graph declares none. */
  readonly channels: readonly string[];
}

/** The state before a step. Values are loaded one by one when opened, as they can be large. */
export function StepInput({ runId, step, checkpointId, channels }: StepInputProps) {
  const { data: explanation } = useQuery(explanationQuery(runId));
  if (!explanation || step.checkpoint_id === null) return null;
  const { thread_id } = explanation;
  return (
    <section className="flex flex-col gap-1">
      <h3 className="font-medium">State before its last step</h3>
      {(channels.length === 0 ? [null] : channels).map((channel) => (
        <Value
          key={`${step.namespace} ${step.checkpoint_id} ${channel}`}
          {...{ threadId: thread_id, step, channel }}
        />
      ))}
      {checkpointId && (
        <Link
          to="/threads/$threadId"
          params={{ threadId: thread_id }}
          search={{ checkpoint: checkpointId }}
          className="w-fit text-accent hover:underline"
        >
          Inspect checkpoint
        </Link>
      )}
    </section>
  );
}

interface ValueProps {
  readonly threadId: string;
  readonly step: ShownStep;
  readonly channel: string | null;
}

function Value({ threadId, step, channel }: ValueProps) {
  const [isOpen, setOpen] = useState(false);
  const { data, error } = useQuery({ ...stepValuesQuery(threadId, step, channel), enabled: isOpen });
  const name = channel ?? 'All values';
  const value = channel === null ? data : data?.[channel];
  return (
    <details onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary className="py-0.5 break-words text-ink-2">{name}</summary>
      {error && <Failure error={error} />}
      {isOpen && !data && !error && <Loading what="the value" />}
      {data && value === undefined && <p className="text-ink-3">No value.</p>}
      {value !== undefined && <Json value={value} label={name} />}
    </details>
  );
}

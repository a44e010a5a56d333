import type { Revision } from '../../api/control-plane.ts';
import { duration, useNow } from '../../ui/format.tsx';
import { Pill, type Tone } from '../../ui/pill.tsx';
import { endOf, type Step } from '../deployments/revision-state.ts';

const TONES: Readonly<Record<Step['status'], Tone>> = {
  running: 'run',
  done: 'ok',
  failed: 'err',
  interrupted: 'idle',
};

/** The steps of a revision and their durations, with bars to compare them. */
export function Steps({ revision }: { revision: Revision }) {
  const { build_steps: steps } = revision;
  const now = useNow();
  if (steps.length === 0) return <p className="text-ink-3">Not started yet.</p>;
  const took = steps.map((step) => Math.max(0, endOf(step, revision, now) - Date.parse(step.started_at)));
  const longest = Math.max(...took, 1);
  return (
    <ol aria-label="Steps" className="flex flex-col gap-1">
      {steps.map(({ name, status, started_at }, i) => (
        <li key={`${name} ${started_at}`} className="grid grid-cols-[88px_96px_72px_1fr] items-center gap-3">
          <span className="truncate font-medium" title={new Date(started_at).toLocaleString()}>
            {name}
          </span>
          <span>
            <Pill tone={TONES[status]}>{status}</Pill>
          </span>
          <span className="text-right whitespace-nowrap text-ink-2">{duration(took[i] ?? 0)}</span>
          <svg aria-hidden="true" viewBox="0 0 100 8" preserveAspectRatio="none" className="h-2 w-full">
            <rect
              width={Math.max(0.5, (100 * (took[i] ?? 0)) / longest)}
              height={8}
              rx={1}
              className={status === 'failed' ? 'fill-err' : 'fill-accent'}
            />
          </svg>
        </li>
      ))}
    </ol>
  );
}

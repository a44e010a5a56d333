import { useMemo } from 'react';
import { duration } from '../../ui/format.tsx';
import { type FlameBar, flameBars } from './flame-bars.ts';
import { type DrawnSteps, type StepsOfRun, StepsView } from './steps-view.tsx';
import { Axis } from './timeline.tsx';

const LANE_HEIGHT = 26;

/** Flame graph: the width of a step is its duration, and it is placed below its parent. */
export function Flame(props: StepsOfRun) {
  return <StepsView {...props}>{(drawn) => <Bars {...drawn} />}</StepsView>;
}

function Bars({ rows, start, span, selectedId, select }: DrawnSteps) {
  const { bars, hidden } = useMemo(() => flameBars(rows, span), [rows, span]);
  const lanes = bars.reduce((most, { lane }) => Math.max(most, lane + 1), 1);
  return (
    <>
      <div className="flex-none border-b border-line py-1.5 text-xs text-ink-3">
        <Axis span={span} />
      </div>
      <section tabIndex={0} aria-label="Steps" className="min-h-0 flex-1 overflow-auto">
        <ul className="relative mr-20 mt-2" style={{ height: lanes * LANE_HEIGHT }}>
          {bars.map((bar) => (
            <Bar key={bar.row.id} bar={bar} start={start} span={span} selected={selectedId} select={select} />
          ))}
        </ul>
      </section>
      {hidden > 0 && (
        <p className="border-t border-line px-3 py-1.5 text-xs text-ink-3">
          {hidden} steps are too short to be seen here; the timeline has them.
        </p>
      )}
    </>
  );
}

const LOOKS = {
  node: 'bg-accent-bg text-accent',
  model: 'bg-run-bg text-run',
  tool: 'bg-wait-bg text-wait',
  retriever: 'bg-wait-bg text-wait',
  store: 'bg-wait-bg text-wait',
} as const;

interface BarProps {
  readonly bar: FlameBar;
  readonly start: number;
  readonly span: number;
  readonly selected: string | undefined;
  readonly select: DrawnSteps['select'];
}

function Bar({ bar: { row, lane }, start, span, selected, select }: BarProps) {
  const { id, name, step, from, to } = row;
  const look = step?.status === 'error' ? 'bg-err-bg text-err' : LOOKS[step?.kind ?? 'node'];
  const time = duration(to - from);
  return (
    <li
      className="absolute px-px"
      style={{
        left: `${(100 * (from - start)) / span}%`,
        width: `${(100 * (to - from)) / span}%`,
        top: lane * LANE_HEIGHT,
      }}
    >
      <button
        type="button"
        disabled={!step}
        aria-pressed={id === selected}
        aria-label={`${name}, ${time}`}
        title={`${name}, ${time}`}
        onClick={() => select(id)}
        className={`block h-6 w-full overflow-hidden rounded-[4px] border border-current/25 px-1.5 text-left text-xs whitespace-nowrap hover:border-current aria-pressed:border-current ${look}`}
      >
        <bdi>{name}</bdi> {time}
      </button>
    </li>
  );
}

import { useVirtualizer } from '@tanstack/react-virtual';
import { useRef } from 'react';
import { duration } from '../../ui/format.tsx';
import type { Step } from './run-queries.ts';
import { type DrawnSteps, type StepsOfRun, StepsView } from './steps-view.tsx';
import { type Row, scale } from './timeline-rows.ts';

const ROW_HEIGHT = 34;
/** Colours of steps by kind. */
const COLOURS: Readonly<Record<Step['kind'], string>> = {
  node: 'bg-accent',
  model: 'bg-run',
  tool: 'bg-tool',
  retriever: 'bg-tool',
  store: 'bg-tool',
};
/** Colours that take precedence over those of the kind. */
const STATUS_COLOURS: Readonly<Record<string, string>> = {
  error: 'bg-err',
  cancelled: 'bg-wait',
  interrupted: 'bg-wait',
};
/** Shown instead of the duration. */
const WORDS: Readonly<Record<string, string>> = { interrupted: 'waits', running: 'running' };

/** Timeline: when each step started and how long it took. */
export function Timeline(props: StepsOfRun) {
  return <StepsView {...props}>{(drawn) => <Bars {...drawn} />}</StepsView>;
}

function Bars({ rows, start, span, selectedId, select }: DrawnSteps) {
  const scroller = useRef<HTMLDivElement>(null);
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW_HEIGHT,
    overscan: 12,
  });
  return (
    <>
      <div className="grid h-[30px] flex-none grid-cols-[min(280px,40%)_1fr] items-center border-b border-line text-xs text-ink-3">
        <span className="pl-3">Step</span>
        <Axis span={span} />
      </div>
      <div
        ref={scroller}
        tabIndex={0}
        role="region"
        aria-label="Steps"
        className="min-h-0 flex-1 overflow-auto"
      >
        <ul className="relative" style={{ height: virtual.getTotalSize() }}>
          {virtual.getVirtualItems().map(({ index, start: top }) => {
            const row = rows[index] as Row;
            return (
              <li key={row.id} className="absolute inset-x-0" style={{ top, height: ROW_HEIGHT }}>
                <Bar row={row} start={start} span={span} isSelected={row.id === selectedId} select={select} />
              </li>
            );
          })}
        </ul>
      </div>
    </>
  );
}

export function Axis({ span }: { span: number }) {
  return (
    <span className="relative mr-20 block h-4">
      {scale(span).map((ms) => (
        <span
          key={ms}
          className="absolute pl-2 whitespace-nowrap max-md:even:hidden"
          style={{ left: `${(100 * ms) / span}%` }}
        >
          {ms === 0 ? '0' : duration(ms)}
        </span>
      ))}
    </span>
  );
}

interface BarProps {
  readonly row: Row;
  readonly start: number;
  readonly span: number;
  readonly isSelected: boolean;
  readonly select: DrawnSteps['select'];
}

function Bar({ row: { id, depth, name, note, step, from, to }, start, span, isSelected, select }: BarProps) {
  const left = (100 * (from - start)) / span;
  const width = Math.max(0.2, (100 * (to - from)) / span);
  const colour = step ? (STATUS_COLOURS[step.status] ?? COLOURS[step.kind]) : 'bg-accent opacity-20';
  return (
    <button
      type="button"
      disabled={!step}
      aria-pressed={isSelected}
      onClick={() => select(id)}
      className="grid h-full w-full grid-cols-[min(280px,40%)_1fr] items-center border-b border-line text-left hover:bg-sunk aria-pressed:bg-sunk"
    >
      <span className="flex min-w-0 items-center gap-2" style={{ paddingLeft: 12 + depth * 14 }}>
        <span aria-hidden="true" className={`size-2 flex-none rounded-xs ${colour}`} />
        <span className="truncate">{name}</span>
        <span className="truncate text-ink-3">{note}</span>
      </span>
      <span className="relative mr-20 block h-full border-l border-line">
        <span
          className={`absolute top-[11px] h-3 min-w-0.5 rounded-[3px] ${colour}`}
          style={{ left: `${left}%`, width: `${width}%` }}
        />
        <span
          className="absolute top-[7px] pl-2 text-xs/5 whitespace-nowrap text-ink-2"
          style={{ left: `${left + width}%` }}
        >
          {(step && WORDS[step.status]) ?? duration(to - from)}
        </span>
      </span>
    </button>
  );
}

import { useVirtualizer } from '@tanstack/react-virtual';
import { useEffect, useRef } from 'react';
import { Card } from '../../ui/page.tsx';
import { Empty } from '../../ui/states.tsx';
import { useSearchChange } from '../../ui/use-search-change.ts';
import type { RunEvent } from './follow-events.ts';

const ROW_HEIGHT = 28;
/** Length of the preview of an event in its row, characters. */
const PREVIEW = 240;

const TONES: Readonly<Record<string, string>> = {
  error: 'text-err',
  messages: 'text-run',
  'messages/partial': 'text-run',
  values: 'text-accent',
  updates: 'text-ok',
  custom: 'text-tool',
};

interface EventListProps {
  readonly events: readonly RunEvent[];
  /** Whether to follow the end of the list. */
  readonly isLive: boolean;
  readonly selected: string | undefined;
}

export function EventList({ events, isLive, selected }: EventListProps) {
  const scroller = useRef<HTMLElement>(null);
  const virtual = useVirtualizer({
    count: events.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW_HEIGHT,
    overscan: 20,
  });
  const size = virtual.getTotalSize();
  useEffect(() => {
    const { current } = scroller;
    // Not while the reader has scrolled elsewhere.
    const isAtEnd = current && current.scrollTop + current.clientHeight > size - 10 * ROW_HEIGHT;
    if (isLive && isAtEnd) current.scrollTo({ top: size });
  }, [isLive, size]);
  if (events.length === 0)
    return <Empty title="No matching events">Show more modes or change the search.</Empty>;
  return (
    <Card className="flex min-h-80 min-w-0 flex-col overflow-hidden max-lg:h-[50vh]">
      <section
        ref={scroller}
        tabIndex={0}
        aria-label="Events"
        className="min-h-0 flex-1 overflow-auto font-mono text-xs"
      >
        <ol className="relative" style={{ height: size }}>
          {virtual.getVirtualItems().map(({ index, start: top }) => {
            const event = events[index] as RunEvent;
            return (
              <li key={event.number} className="absolute inset-x-0" style={{ top, height: ROW_HEIGHT }}>
                <EventRow event={event} isSelected={String(event.number) === selected} />
              </li>
            );
          })}
        </ol>
      </section>
    </Card>
  );
}

function EventRow({
  event: { number, mode, from, data },
  isSelected,
}: {
  event: RunEvent;
  isSelected: boolean;
}) {
  const change = useSearchChange<{ event: string }>();
  return (
    <button
      type="button"
      aria-pressed={isSelected}
      onClick={() => change({ event: String(number) })}
      className="flex h-full w-full items-center gap-3 border-b border-line px-3 text-left hover:bg-sunk aria-pressed:bg-sunk"
    >
      <span className="w-10 flex-none text-right max-sm:w-7 text-ink-3">{number}</span>
      <span className={`w-28 flex-none truncate max-sm:w-20 ${TONES[mode] ?? 'text-ink-2'}`}>{mode}</span>
      {from !== '' && <span className="max-w-40 flex-none truncate text-ink-3">{from}</span>}
      <span className="min-w-0 flex-1 truncate">{data.slice(0, PREVIEW)}</span>
    </button>
  );
}

import { useNavigate, useSearch } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import type { Schemas } from '../../api/client.ts';
import { typedValue } from '../../api/values.ts';
import { Button } from '../../ui/button.tsx';
import { TextInput } from '../../ui/fields.tsx';
import { count } from '../../ui/format.tsx';
import { Json } from '../../ui/json.tsx';
import { Card } from '../../ui/page.tsx';
import { saveFile } from '../../ui/save-file.ts';
import { Empty, Failure, Loading } from '../../ui/states.tsx';
import { EventList } from './event-list.tsx';
import type { RunEvent } from './follow-events.ts';
import { useEvents } from './use-events.ts';

/** The event stream of a run as clients receive it. Filters and the selected event are in the address. */
export function Events({ run }: { run: Schemas['Run'] }) {
  const { hide = '', q = '', event: selectedNumber } = useSearch({ from: '/runs/$runId' });
  const [isPaused, setPaused] = useState(false);
  const { events, hasEnded, error } = useEvents(run.thread_id, run.run_id, isPaused);
  const modes = useMemo(() => Map.groupBy(events, ({ mode }) => mode), [events]);
  const hiddenModes = useMemo(() => new Set(hide.split(',')), [hide]);
  const visible = useMemo(() => {
    const text = q.toLowerCase();
    return events.filter(
      ({ mode, from, data }) =>
        !hiddenModes.has(mode) && (text === '' || `${mode} ${from} ${data}`.toLowerCase().includes(text)),
    );
  }, [events, hiddenModes, q]);
  const selected = events.find(({ number }) => String(number) === selectedNumber);
  if (error !== undefined) return <Failure error={error} />;
  if (events.length === 0) return <Nothing run={run} hasEnded={hasEnded} />;
  return (
    <div className="flex min-h-0 flex-1 flex-col gap-3">
      <div className="flex flex-wrap items-center gap-2">
        <Modes modes={modes} hidden={hiddenModes} />
        <Search />
        <p role="status" className="text-ink-3">
          {visible.length === events.length
            ? `${count(events.length)} events`
            : `${count(visible.length)} of ${count(events.length)} events`}
          {!hasEnded && (isPaused ? ', paused' : ', live')}
        </p>
        <div className="ml-auto flex gap-2">
          {!hasEnded && (
            <Button aria-pressed={isPaused} onClick={() => setPaused(!isPaused)}>
              {isPaused ? 'Resume' : 'Pause'}
            </Button>
          )}
          <Button onClick={() => save(run.run_id, visible)}>Download NDJSON</Button>
        </div>
      </div>
      <div className="grid min-h-0 flex-1 gap-4 max-lg:auto-rows-max lg:grid-cols-[1fr_minmax(320px,40%)] lg:grid-rows-[minmax(0,1fr)]">
        <EventList events={visible} isLive={!hasEnded && !isPaused} selected={selectedNumber} />
        <Details event={selected} />
      </div>
    </div>
  );
}

interface ModesProps {
  readonly modes: ReadonlyMap<string, readonly RunEvent[]>;
  readonly hidden: ReadonlySet<string>;
}

function Modes({ modes, hidden }: ModesProps) {
  const navigate = useNavigate({ from: '/runs/$runId' });
  function toggle(mode: string) {
    const next = new Set(hidden);
    next.delete('');
    if (!next.delete(mode)) next.add(mode);
    void navigate({ search: (before) => ({ ...before, hide: [...next].join(',') }), replace: true });
  }
  return (
    <fieldset className="flex flex-wrap gap-1">
      <legend className="sr-only">Modes</legend>
      {[...modes].map(([mode, events]) => (
        <button
          key={mode}
          type="button"
          aria-pressed={!hidden.has(mode)}
          onClick={() => toggle(mode)}
          className="h-7 rounded-[7px] border border-line-strong px-2 font-mono text-xs text-ink-3 line-through aria-pressed:border-accent aria-pressed:bg-accent-bg aria-pressed:text-accent aria-pressed:no-underline"
        >
          {mode} {count(events.length)}
        </button>
      ))}
    </fieldset>
  );
}

function Search() {
  const { q = '' } = useSearch({ from: '/runs/$runId' });
  const navigate = useNavigate({ from: '/runs/$runId' });
  return (
    <TextInput
      type="search"
      aria-label="Search events"
      placeholder="Search events"
      value={q}
      onChange={({ target }) =>
        void navigate({ search: (before) => ({ ...before, q: target.value }), replace: true })
      }
    />
  );
}

function Details({ event }: { event: RunEvent | undefined }) {
  if (!event) {
    return <Card className="p-4 text-ink-3 max-lg:hidden">Select an event to see all of it.</Card>;
  }
  const { number, mode, from, id, data } = event;
  return (
    <Card className="flex min-w-0 flex-col gap-2 overflow-auto p-4">
      <h2 className="font-semibold">
        {mode} <span className="font-normal text-ink-3">{from}</span>
      </h2>
      <p className="text-xs text-ink-3">
        Event {number}
        {id !== undefined && `, id ${id}`}
      </p>
      <Json value={typedValue(data).value} label={`Event ${number}`} />
    </Card>
  );
}

function Nothing({ run, hasEnded }: { run: Schemas['Run']; hasEnded: boolean }) {
  if (!hasEnded) return <Loading what="events" />;
  return (
    <Empty title="No stored events for this run">
      {run.kwargs['resumable'] === true
        ? 'Events are kept for a limited time after a run ends.'
        : 'To keep the events of a run, start it with “stream_resumable”. Without it, they are shown only while the run executes.'}
    </Empty>
  );
}

function save(run_id: string, events: readonly RunEvent[]): void {
  const lines = events.map(({ number, mode, from, id, data, at }) =>
    JSON.stringify({ number, mode, from, id, at: new Date(at).toISOString(), data: typedValue(data).value }),
  );
  saveFile(`${run_id}.ndjson`, `${lines.join('\n')}\n`, 'application/x-ndjson');
}

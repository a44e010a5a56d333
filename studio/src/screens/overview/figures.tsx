import { Link, type LinkProps } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { Schemas } from '../../api/client.ts';
import { Ago, count } from '../../ui/format.tsx';
import { Card } from '../../ui/page.tsx';

/** Key figures for operators. Each links to what it counts. */
export function Figures({ overview }: { overview: Schemas['SystemOverview'] }) {
  const { runs, threads, interrupts, webhooks } = overview;
  const { failed_last_hour, error, timeout } = runs.ended;
  return (
    <div className="grid grid-cols-2 gap-3 sm:gap-4 xl:grid-cols-4">
      <Figure
        name="Running"
        value={runs.running}
        note={<Queue runs={runs} />}
        to={{ to: '/runs', search: { status: 'running' } }}
      />
      <Figure
        name="Failed in the last hour"
        value={failed_last_hour}
        note={<NoteLink {...failedWithin(24, overview)}>{count(error + timeout)} in 24 hours</NoteLink>}
        to={failedWithin(1, overview)}
        isBad={failed_last_hour > 0}
      />
      <Figure
        name="Waiting for a person"
        value={interrupts.waiting}
        isMore={interrupts.more}
        note={`${count(threads.total)} ${threads.total === 1 ? 'thread' : 'threads'} in all`}
        to={{ to: '/inbox' }}
      />
      <Figure
        name="Dead webhooks"
        value={webhooks.dead}
        note={`${count(webhooks.pending)} pending`}
        to={{ to: '/webhooks', search: { status: 'dead' } }}
        isBad={webhooks.dead > 0}
      />
    </div>
  );
}

/** Links to the failed runs of the last hours. If only the newest runs were counted, to those since that time. */
function failedWithin(hours: number, { runs, at }: Schemas['SystemOverview']): LinkProps {
  const { since } = runs.ended;
  const isCut = since !== null && Date.parse(since) > Date.parse(at) - hours * 3_600_000;
  return { to: '/runs', search: { status: 'failed', ended: isCut ? since : String(hours) } };
}

function Queue({ runs: { pending, oldest_waiting: oldest } }: Pick<Schemas['SystemOverview'], 'runs'>) {
  return (
    <>
      <NoteLink to="/runs" search={{ status: 'pending' }}>
        {count(pending)} queued
      </NoteLink>
      {oldest && (
        <>
          , <NoteLink {...{ to: '/runs/$runId', params: { runId: oldest.run_id } }}>the oldest</NoteLink> due{' '}
          <Ago at={oldest.since} />
        </>
      )}
    </>
  );
}

interface FigureProps {
  readonly name: string;
  readonly value: number;
  /** `value` is a lower bound. */
  readonly isMore?: boolean;
  readonly note: ReactNode;
  /** Link to what the figure counts. */
  readonly to: LinkProps;
  readonly isBad?: boolean;
}

function Figure({ name, value, isMore = false, note, to, isBad = false }: FigureProps) {
  return (
    <Card className="relative p-4 hover:border-line-strong">
      <h2 className="text-xs font-semibold text-ink-2">
        <Link {...to} className="after:absolute after:inset-0">
          {name}
        </Link>
      </h2>
      <p className={`text-lg font-semibold ${isBad ? 'text-err' : ''}`}>
        {count(value)}
        {isMore && '+'}
      </p>
      <p className="text-ink-3">{note}</p>
    </Card>
  );
}

/** A link within a figure, above the figure's own link. */
function NoteLink(props: LinkProps & { readonly children: ReactNode }) {
  return <Link {...props} className="relative text-accent" />;
}

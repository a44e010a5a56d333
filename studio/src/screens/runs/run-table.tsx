import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { Schemas } from '../../api/client.ts';
import { Ago, count, duration, errorLine, shortId } from '../../ui/format.tsx';
import { useMoney } from '../../ui/money.ts';
import { RunPill } from '../../ui/pill.tsx';
import { RunLink, RunTitle } from '../../ui/run-link.tsx';
import { type Column, ItemTable, OPENS } from '../../ui/table.tsx';
import { isPriced, type RunUsage, tokensOf, useRunUsage } from './run-usage.ts';
import { useThreadTitles } from './thread-titles.ts';

export type ListedRun = Schemas['RunSummary'];

/** Runs that the reader has chosen in the list, by id. */
export interface Choice {
  readonly chosen: readonly string[];
  readonly choose: (run_id: string, isOn: boolean) => void;
}

interface RunTableProps {
  readonly runs: readonly ListedRun[];
  /** With it, each row has a box. */
  readonly choice?: Choice;
  /** All runs are of one thread, which need not be named. */
  readonly isOfThread?: boolean;
}

/** Runs as a table; a click on a row opens the run. */
export function RunTable({ runs, choice, isOfThread = false }: RunTableProps) {
  const titles = useThreadTitles(isOfThread ? [] : runs);
  const used = useUsageColumns(runs);
  const thread: Column<ListedRun> = {
    name: 'Thread',
    className: 'max-w-[36ch] truncate',
    cell: ({ thread_id = '', removed }) =>
      removed ? <Deleted /> : <ThreadLink thread_id={thread_id} title={titles.get(thread_id)} />,
  };
  return (
    <ItemTable
      label="Runs"
      items={runs}
      keyOf={({ run_id = '' }) => run_id}
      columns={[
        ...(choice ? [boxColumn(choice)] : []),
        ...COLUMNS.slice(0, 2),
        ...(isOfThread ? [] : [thread]),
        ...COLUMNS.slice(2),
        ...used,
      ]}
    />
  );
}

/** Tokens and cost of the runs that called models. */
function useUsageColumns(runs: readonly ListedRun[]): readonly Column<ListedRun>[] {
  const usage = useRunUsage(runs);
  const money = useMoney();
  const className = 'whitespace-nowrap text-ink-2 tabular-nums';
  const cell = (shown: (usage: RunUsage) => string | false) => (run: ListedRun) => {
    const used = usage.get(run.run_id ?? '');
    return used && shown(used);
  };
  return [
    { name: 'Tokens', className, cell: cell((used) => count(tokensOf(used))) },
    { name: 'Cost', className, cell: cell((used) => isPriced(used) && money(used.cost)) },
  ];
}

function boxColumn({ chosen, choose }: Choice): Column<ListedRun> {
  return {
    name: 'Chosen',
    isUnnamed: true,
    className: 'w-8',
    cell: ({ run_id = '', removed }) =>
      !removed && (
        <input
          type="checkbox"
          aria-label={`Choose run ${shortId(run_id)}`}
          className="align-middle accent-accent"
          checked={chosen.includes(run_id)}
          onChange={({ target }) => choose(run_id, target.checked)}
        />
      ),
  };
}

const COLUMNS: readonly Column<ListedRun>[] = [
  // On a small screen the status is next to it.
  {
    name: 'Run',
    className: 'max-w-[38vw] sm:min-w-56 lg:max-w-[64ch]',
    cell: (run) => <RunName run={run} />,
  },
  { name: 'Status', cell: (run) => <RunPill run={run} /> },
  {
    name: 'Created',
    className: 'text-ink-2',
    cell: ({ created_at }) => created_at && <Ago at={created_at} />,
  },
  { name: 'Duration', className: 'whitespace-nowrap text-ink-2', cell: durationOf },
];

function durationOf({ started_at, ended_at }: ListedRun): ReactNode {
  return started_at && ended_at && duration(Date.parse(ended_at) - Date.parse(started_at));
}

/** The error of a failed run is below its name. */
function RunName({ run }: { run: ListedRun }) {
  const { error } = run;
  return (
    <>
      {run.removed ? (
        <span className="block truncate font-medium">
          <RunTitle run={run} />
        </span>
      ) : (
        <RunLink run={run} className="block truncate" {...OPENS} />
      )}
      {error && (
        <p className="truncate text-xs text-err" title={error.message}>
          {errorLine(error)}
        </p>
      )}
    </>
  );
}

/** In place of the thread of a stateless run that has ended. */
function Deleted() {
  return (
    <span
      className="whitespace-nowrap text-ink-3"
      title="The run made a thread for itself, deleted with the run at its end"
    >
      deleted
    </span>
  );
}

function ThreadLink({ thread_id, title }: { thread_id: string; title: string | undefined }) {
  return (
    <Link
      to="/threads/$threadId"
      params={{ threadId: thread_id }}
      className="whitespace-nowrap text-ink-2 hover:text-accent"
    >
      {title === undefined ? (
        <span className="font-mono text-xs">{shortId(thread_id)}</span>
      ) : (
        <bdi>{title}</bdi>
      )}
    </Link>
  );
}

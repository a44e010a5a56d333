import { useInfiniteQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import type { Schemas } from '../../api/client.ts';
import { AssistantSelect } from '../../ui/assistant-select.tsx';
import { Select } from '../../ui/fields.tsx';
import { Ago, duration, localTimes, shortId } from '../../ui/format.tsx';
import { Page } from '../../ui/page.tsx';
import { EmptyList, PagedList } from '../../ui/paged-list.tsx';
import { StatusPill } from '../../ui/pill.tsx';
import { RunLink } from '../../ui/run-link.tsx';
import { Cell, Row, Table } from '../../ui/table.tsx';
import { TextFilter } from '../../ui/text-filter.tsx';
import { SavedViews } from '../saved-views/saved-views.tsx';
import { metadataOf } from '../threads/metadata-text.ts';
import { FAILED, isTime, type RunFilters, runsQuery } from './runs-query.ts';
import { useThreadTitles } from './thread-titles.ts';

const STATUSES = ['pending', 'running', 'success', 'error', 'timeout', 'interrupted'];

const times = (what: string) =>
  [
    ['', `${what} any time`],
    ['1', `${what} in the last hour`],
    ['24', `${what} in the last day`],
    ['168', `${what} in the last week`],
  ] as const;

/** List of runs of all threads, with filters in the address. */
export function Runs() {
  const filters: RunFilters = useSearch({ from: '/runs' });
  return (
    <Page title="Runs" actions={<SavedViews screen="runs" filters={{ ...filters }} />}>
      <Filters filters={filters} />
      <List filters={filters} />
    </Page>
  );
}

function Filters({ filters }: { filters: RunFilters }) {
  const navigate = useNavigate({ from: '/runs' });
  const { ended = '' } = filters;
  const set = (change: RunFilters) =>
    void navigate({ search: (before) => ({ ...before, ...change }), replace: true });
  return (
    <search className="flex flex-wrap gap-2">
      <Select
        aria-label="Status"
        value={filters.status ?? ''}
        onChange={({ target }) => set({ status: target.value })}
        options={[
          ['', 'Any status'],
          [FAILED, 'error or timeout'],
          ...STATUSES.map((status) => [status, status] as const),
        ]}
      />
      <AssistantSelect
        aria-label="Assistant"
        value={filters.assistant ?? ''}
        onChange={({ target }) => set({ assistant: target.value })}
      />
      <Select
        aria-label="Created"
        value={filters.since ?? ''}
        onChange={({ target }) => set({ since: target.value })}
        options={times('Created')}
      />
      <Select
        aria-label="Until"
        value={filters.until ?? ''}
        onChange={({ target }) => set({ until: target.value })}
        options={[
          ['', 'Created at any time'],
          ['1', 'Created until an hour ago'],
          ['24', 'Created until a day ago'],
          ['168', 'Created until a week ago'],
        ]}
      />
      <Select
        aria-label="Ended"
        value={ended}
        onChange={({ target }) => set({ ended: target.value })}
        options={[
          ...times('Ended'),
          ...(isTime(ended) ? [[ended, `Ended since ${localTimes(ended)}`] as const] : []),
        ]}
      />
      <TextFilter
        label="Metadata of the thread, such as user=ana"
        className="w-[305px]"
        value={filters.metadata}
        set={(metadata) => set({ metadata })}
        check={metadataOf}
      />
      <TextFilter
        label="Error contains"
        className="w-56"
        value={filters.error}
        set={(error) => set({ error })}
      />
    </search>
  );
}

function List({ filters }: { filters: RunFilters }) {
  const empty = (
    <EmptyList filters={filters} fits="No matching runs" none="No runs yet">
      Start one from Chat or with any client.
    </EmptyList>
  );
  return (
    <PagedList query={useInfiniteQuery(runsQuery(filters))} what="runs" more="Show older runs" empty={empty}>
      {(runs) => <RunTable runs={runs} />}
    </PagedList>
  );
}

function RunTable({ runs }: { runs: readonly Schemas['RunSummary'][] }) {
  const titles = useThreadTitles(runs);
  return (
    <Table label="Runs" columns={['Run', 'Thread', 'Status', 'Created', 'Duration', 'Error']}>
      {runs.map((run) => (
        <RunRow key={run.run_id} run={run} title={titles.get(run.thread_id ?? '')} />
      ))}
    </Table>
  );
}

function RunRow({ run, title }: { run: Schemas['RunSummary']; title: string | undefined }) {
  const { thread_id = '', status = '', created_at, started_at, ended_at, error } = run;
  return (
    <Row>
      <Cell>
        <RunLink run={run} />
      </Cell>
      <Cell className="max-w-[36ch] truncate">
        <Link
          to="/threads/$threadId"
          params={{ threadId: thread_id }}
          className="text-ink-2 hover:text-accent"
        >
          {title === undefined ? (
            <span className="font-mono text-xs">{shortId(thread_id)}</span>
          ) : (
            <bdi>{title}</bdi>
          )}
        </Link>
      </Cell>
      <Cell>
        <StatusPill status={status} />
      </Cell>
      <Cell className="text-ink-2">{created_at && <Ago at={created_at} />}</Cell>
      <Cell className="whitespace-nowrap text-ink-2">
        {started_at && ended_at && duration(Date.parse(ended_at) - Date.parse(started_at))}
      </Cell>
      <Cell className="max-w-[40ch] truncate text-ink-2">{error && `${error.error}: ${error.message}`}</Cell>
    </Row>
  );
}

import { useInfiniteQuery } from '@tanstack/react-query';
import { Link, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { AssistantSelect } from '../../ui/assistant-select.tsx';
import { Button, buttonClass } from '../../ui/button.tsx';
import { Select } from '../../ui/fields.tsx';
import { FilterBar } from '../../ui/filter-bar.tsx';
import { Page } from '../../ui/page.tsx';
import { EmptyList, PagedList } from '../../ui/paged-list.tsx';
import { TextFilter } from '../../ui/text-filter.tsx';
import { useSearchChange } from '../../ui/use-search-change.ts';
import { SavedViews } from '../saved-views/saved-views.tsx';
import { metadataOf } from '../threads/metadata-text.ts';
import { filtersOf, periodOf } from './period.ts';
import { RunTable } from './run-table.tsx';
import { FAILED, type RunFilters, runsQuery, WAITING } from './runs-query.ts';

const STATUSES = ['pending', 'running', 'success', 'error', 'timeout', 'interrupted'];

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
  const set = useSearchChange<RunFilters>();
  return (
    <FilterBar filters={filters}>
      <Select
        aria-label="Status"
        value={filters.status ?? ''}
        onChange={({ target }) => set({ status: target.value })}
        options={[
          ['', 'Any status'],
          [WAITING, 'waiting for a person'],
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
        aria-label="Period"
        {...periodOf(filters)}
        onChange={({ target }) => set(filtersOf(target.value))}
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
        className="w-52"
        value={filters.error}
        set={(error) => set({ error })}
      />
    </FilterBar>
  );
}

/** Runs that can be compared at once. */
const COMPARED = 2;

function List({ filters }: { filters: RunFilters }) {
  const [chosen, setChosen] = useState<readonly string[]>([]);
  const choose = (run_id: string, isOn: boolean) =>
    setChosen((before) => {
      const others = before.filter((id) => id !== run_id);
      return isOn ? [...others, run_id].slice(-COMPARED) : others;
    });
  const empty = (
    <EmptyList filters={filters} fits="No matching runs" none="No runs yet">
      Start one from Chat or with any client.
    </EmptyList>
  );
  return (
    <>
      <Chosen runs={chosen} clear={() => setChosen([])} />
      <PagedList
        query={useInfiniteQuery(runsQuery(filters))}
        what="runs"
        more="Show older runs"
        empty={empty}
      >
        {(runs) => <RunTable runs={runs} choice={{ chosen, choose }} />}
      </PagedList>
    </>
  );
}

/** What can be done with the chosen runs. */
function Chosen({ runs: [left, right], clear }: { runs: readonly string[]; clear: () => void }) {
  if (left === undefined) return null;
  return (
    <section aria-label="Chosen runs" className="flex flex-wrap items-center gap-2">
      <span role="status">{right === undefined ? 'Choose another run to compare' : '2 runs chosen'}</span>
      {right !== undefined && (
        <Link to="/compare" search={{ left, right }} className={buttonClass()}>
          Compare
        </Link>
      )}
      <Button look="quiet" onClick={clear}>
        Clear
      </Button>
    </section>
  );
}

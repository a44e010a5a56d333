import { useNavigate, useSearch } from '@tanstack/react-router';
import { AssistantSelect } from '../../ui/assistant-select.tsx';
import { Select } from '../../ui/fields.tsx';
import { FilterBar } from '../../ui/filter-bar.tsx';
import { Page } from '../../ui/page.tsx';
import { TextFilter } from '../../ui/text-filter.tsx';
import { SavedViews } from '../saved-views/saved-views.tsx';
import { ThreadList } from './list.tsx';
import { metadataOf } from './metadata-text.ts';
import type { ThreadFilters } from './threads-query.ts';

const STATUSES = ['idle', 'busy', 'interrupted', 'error'];

/** List of threads, with filters and order in the address. */
export function Threads() {
  const search = useSearch({ from: '/threads' });
  const { sort: _sort, order: _order, ...filters } = search;
  return (
    <Page title="Threads" actions={<SavedViews screen="threads" filters={search} />}>
      <Filters filters={filters} />
      {/* The key drops the selection made under other filters. */}
      <ThreadList key={JSON.stringify(filters)} filters={filters} order={search} />
    </Page>
  );
}

function Filters({ filters }: { filters: ThreadFilters }) {
  const navigate = useNavigate({ from: '/threads' });
  const set = (change: ThreadFilters) =>
    void navigate({ search: (before) => ({ ...before, ...change }), replace: true });
  return (
    <FilterBar filters={filters}>
      <TextFilter
        label="Thread id or words from the title"
        className="w-[260px]"
        value={filters.find}
        set={(find) => set({ find })}
      />
      <Select
        aria-label="Status"
        value={filters.status ?? ''}
        onChange={({ target }) => set({ status: target.value })}
        options={[['', 'Any status'], ...STATUSES.map((status) => [status, status] as const)]}
      />
      <AssistantSelect
        aria-label="Assistant"
        value={filters.assistant ?? ''}
        onChange={({ target }) => set({ assistant: target.value })}
      />
      <TextFilter label="Owner" className="w-36" value={filters.owner} set={(owner) => set({ owner })} />
      <TextFilter
        label="Metadata, such as user=ana"
        className="w-[220px]"
        value={filters.metadata}
        set={(metadata) => set({ metadata })}
        check={metadataOf}
      />
      <TextFilter
        label="Values, such as topic=tea"
        className="w-[220px]"
        value={filters.values}
        set={(values) => set({ values })}
        check={metadataOf}
      />
    </FilterBar>
  );
}

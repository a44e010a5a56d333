import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { AssistantSelect } from '../../ui/assistant-select.tsx';
import { Select } from '../../ui/fields.tsx';
import { FilterBar } from '../../ui/filter-bar.tsx';
import { count, plural } from '../../ui/format.tsx';
import { Page } from '../../ui/page.tsx';
import { EmptyList, PagedList } from '../../ui/paged-list.tsx';
import { Tabs } from '../../ui/tabs.tsx';
import { TextFilter } from '../../ui/text-filter.tsx';
import { Budgets } from './budgets.tsx';
import { Totals } from './totals.tsx';
import {
  GROUPINGS,
  type Grouping,
  PERIODS,
  periodOf,
  totalQuery,
  type UsageFilters,
  usageQuery,
} from './usage-query.ts';
import { UsageTable } from './usage-table.tsx';

/** Tokens and cost of all runs, and what is used of the budgets. */
export function Usage() {
  const { tab, ...filters } = useSearch({ from: '/usage' });
  const by = GROUPINGS.find((each) => each === tab) ?? 'day';
  return (
    <Page title="Usage">
      <Filters filters={filters} />
      <Totals filters={filters} />
      <Unpriced filters={filters} />
      <Budgets />
      <Tabs tabs={GROUPINGS.map((name) => ({ name, label: LABELS[name] }))} open={by} />
      <Groups filters={filters} by={by} />
    </Page>
  );
}

const LABELS: Readonly<Record<Grouping, string>> = {
  day: 'By day',
  assistant: 'By assistant',
  model: 'By model',
  user: 'By user',
  key: 'By API key',
};

function Filters({ filters }: { filters: UsageFilters }) {
  const navigate = useNavigate({ from: '/usage' });
  const set = (change: UsageFilters) =>
    void navigate({ search: (before) => ({ ...before, ...change }), replace: true });
  const text = (name: 'model' | 'user' | 'key', label: string) => (
    <TextFilter
      label={label}
      className="w-44"
      value={filters[name]}
      set={(value) => set({ [name]: value })}
    />
  );
  return (
    <FilterBar filters={filters}>
      <Select
        aria-label="Period"
        value={periodOf(filters)}
        onChange={({ target }) => set({ days: target.value })}
        options={PERIODS.map((days) => [days, `Last ${days} days`] as const)}
      />
      <AssistantSelect
        aria-label="Assistant"
        value={filters.assistant ?? ''}
        onChange={({ target }) => set({ assistant: target.value })}
      />
      {text('model', 'Model')}
      {text('user', 'User')}
      {text('key', 'Id of an API key')}
    </FilterBar>
  );
}

/** Why the cost may be too low. */
function Unpriced({ filters }: { filters: UsageFilters }) {
  const { data } = useQuery(totalQuery(filters));
  if (!data || data.unpriced_calls === 0) return null;
  const calls = data.unpriced_calls;
  return (
    <p className="text-ink-2">
      {`${count(calls)} ${plural(calls, 'call')} without a known cost: failed ones, and those of models that `}
      <code className="font-mono text-xs">usage.prices</code> does not name.
    </p>
  );
}

function Groups({ filters, by }: { filters: UsageFilters; by: Grouping }) {
  const empty = (
    <EmptyList filters={filters} fits="No matching usage" none="No model has been called yet">
      Calls of models in runs are counted here.
    </EmptyList>
  );
  return (
    <PagedList
      query={useInfiniteQuery(usageQuery(filters, by))}
      what="the usage"
      more="Show more"
      empty={empty}
    >
      {(groups) => <UsageTable groups={groups} by={by} />}
    </PagedList>
  );
}

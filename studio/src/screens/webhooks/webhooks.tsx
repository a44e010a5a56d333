import { useInfiniteQuery } from '@tanstack/react-query';
import { Link, useSearch } from '@tanstack/react-router';
import { useSession } from '../../api/session.ts';
import { Select } from '../../ui/fields.tsx';
import { FilterBar } from '../../ui/filter-bar.tsx';
import { Ago } from '../../ui/format.tsx';
import { RunIdLink } from '../../ui/id-links.tsx';
import { Page } from '../../ui/page.tsx';
import { EmptyList, PagedList } from '../../ui/paged-list.tsx';
import { type Column, ItemTable, OPENS } from '../../ui/table.tsx';
import { TextFilter } from '../../ui/text-filter.tsx';
import { useSearchChange } from '../../ui/use-search-change.ts';
import { DeliveryPill } from './delivery-pill.tsx';
import { RedeliverAll } from './redeliver-all.tsx';
import { SendTest } from './send-test.tsx';
import { type Delivery, type DeliveryFilters, deliveriesQuery } from './webhooks-query.ts';

/** List of webhook deliveries, with filters in the address. */
export function Webhooks() {
  const filters: DeliveryFilters = useSearch({ from: '/webhooks' });
  const { can } = useSession();
  return (
    <Page
      title="Webhooks"
      actions={
        can('run') && (
          <>
            <RedeliverAll filters={filters} />
            <SendTest />
          </>
        )
      }
    >
      <Filters filters={filters} />
      <List filters={filters} />
    </Page>
  );
}

function Filters({ filters }: { filters: DeliveryFilters }) {
  const set = useSearchChange<DeliveryFilters>();
  return (
    <FilterBar filters={filters}>
      <Select
        aria-label="Status"
        value={filters.status ?? ''}
        onChange={({ target }) => set({ status: target.value })}
        options={[
          ['', 'Any status'],
          ['pending', 'Pending'],
          ['delivered', 'Delivered'],
          ['dead', 'Dead'],
        ]}
      />
      <TextFilter
        label="Address starts with"
        className="w-64"
        value={filters.url}
        set={(url) => set({ url })}
      />
      <TextFilter label="Run id" className="w-64" value={filters.run} set={(run) => set({ run })} />
    </FilterBar>
  );
}

function List({ filters }: { filters: DeliveryFilters }) {
  const empty = (
    <EmptyList filters={filters} fits="No matching deliveries" none="No deliveries yet">
      A run with a webhook calls its address when the run ends. Send a test to see a delivery.
    </EmptyList>
  );
  const query = useInfiniteQuery(deliveriesQuery(filters));
  return (
    <PagedList query={query} what="deliveries" more="Show older deliveries" empty={empty}>
      {(deliveries) => (
        <ItemTable
          label="Deliveries"
          items={deliveries}
          keyOf={({ delivery_id }) => delivery_id}
          columns={COLUMNS}
        />
      )}
    </PagedList>
  );
}

const COLUMNS: readonly Column<Delivery>[] = [
  {
    name: 'Address',
    className: 'max-w-[48ch] min-w-48 truncate',
    cell: ({ delivery_id, url }) => (
      <Link
        {...OPENS}
        to="/webhooks/$deliveryId"
        params={{ deliveryId: delivery_id }}
        className="font-medium hover:text-accent"
      >
        {url}
      </Link>
    ),
  },
  { name: 'Status', cell: ({ status }) => <DeliveryPill status={status} /> },
  { name: 'Tries', className: 'text-ink-2', cell: ({ tries }) => tries },
  { name: 'Created', className: 'text-ink-2', cell: ({ created_at }) => <Ago at={created_at} /> },
  {
    name: 'Next try',
    className: 'whitespace-nowrap text-ink-2',
    cell: ({ next_try_at }) => next_try_at !== null && new Date(next_try_at).toLocaleTimeString(),
  },
  {
    name: 'Run',
    className: 'whitespace-nowrap',
    cell: ({ run_id }) => run_id !== null && <RunIdLink run_id={run_id} />,
  },
];

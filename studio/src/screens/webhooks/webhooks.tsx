import { useInfiniteQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useSession } from '../../api/session.ts';
import { Select } from '../../ui/fields.tsx';
import { Ago } from '../../ui/format.tsx';
import { RunIdLink } from '../../ui/id-links.tsx';
import { Page } from '../../ui/page.tsx';
import { EmptyList, PagedList } from '../../ui/paged-list.tsx';
import { Cell, Row, Table } from '../../ui/table.tsx';
import { TextFilter } from '../../ui/text-filter.tsx';
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
  const navigate = useNavigate({ from: '/webhooks' });
  const set = (change: DeliveryFilters) =>
    void navigate({ search: (before) => ({ ...before, ...change }), replace: true });
  return (
    <search className="flex flex-wrap gap-2">
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
    </search>
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
        <Table label="Deliveries" columns={['Address', 'Status', 'Tries', 'Created', 'Next try', 'Run']}>
          {deliveries.map((delivery) => (
            <DeliveryRow key={delivery.delivery_id} delivery={delivery} />
          ))}
        </Table>
      )}
    </PagedList>
  );
}

function DeliveryRow({ delivery }: { delivery: Delivery }) {
  const { delivery_id, url, status, tries, created_at, next_try_at, run_id } = delivery;
  return (
    <Row>
      <Cell className="max-w-[48ch] min-w-48 truncate">
        <Link
          to="/webhooks/$deliveryId"
          params={{ deliveryId: delivery_id }}
          className="font-medium hover:text-accent"
        >
          {url}
        </Link>
      </Cell>
      <Cell>
        <DeliveryPill status={status} />
      </Cell>
      <Cell className="text-ink-2">{tries}</Cell>
      <Cell className="text-ink-2">
        <Ago at={created_at} />
      </Cell>
      <Cell className="whitespace-nowrap text-ink-2">
        {next_try_at !== null && new Date(next_try_at).toLocaleTimeString()}
      </Cell>
      <Cell>{run_id !== null && <RunIdLink run_id={run_id} />}</Cell>
    </Row>
  );
}

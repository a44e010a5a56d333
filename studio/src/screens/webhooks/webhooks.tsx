import { useInfiniteQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { useSession } from '../../api/session.ts';
import { Select, TextInput } from '../../ui/fields.tsx';
import { Ago, shortId } from '../../ui/format.tsx';
import { Page } from '../../ui/page.tsx';
import { EmptyList, PagedList } from '../../ui/paged-list.tsx';
import { Cell, Row, Table } from '../../ui/table.tsx';
import { DeliveryPill } from './delivery-pill.tsx';
import { RedeliverAll } from './redeliver-all.tsx';
import { SendTest } from './send-test.tsx';
import { type Delivery, type DeliveryFilters, deliveriesQuery } from './webhooks-query.ts';

/** What was sent to other systems, and what did not arrive; the filters are in the address. */
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
  const [url, setUrl] = useState(filters.url ?? '');
  const [run, setRun] = useState(filters.run ?? '');
  const set = (change: DeliveryFilters) =>
    void navigate({ search: (before) => ({ ...before, ...change }), replace: true });
  const apply = () => set({ url: url.trim(), run: run.trim() });
  return (
    <form
      role="search"
      className="flex flex-wrap gap-2"
      onSubmit={(event) => {
        event.preventDefault();
        apply();
      }}
    >
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
      <TextInput
        type="search"
        aria-label="Address begins with"
        placeholder="Address begins with"
        className="w-64"
        value={url}
        onChange={({ target }) => setUrl(target.value)}
        onBlur={apply}
      />
      <TextInput
        type="search"
        aria-label="Id of the run"
        placeholder="Id of the run"
        className="w-64"
        value={run}
        onChange={({ target }) => setRun(target.value)}
        onBlur={apply}
      />
    </form>
  );
}

function List({ filters }: { filters: DeliveryFilters }) {
  const empty = (
    <EmptyList filters={filters} fits="No delivery fits" none="No deliveries yet">
      A run with a webhook calls its address when it has ended. Send a test to see one.
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
      <Cell>
        {run_id !== null && (
          <Link
            to="/runs/$runId"
            params={{ runId: run_id }}
            className="font-mono text-xs text-ink-2 hover:text-accent"
          >
            {shortId(run_id)}
          </Link>
        )}
      </Cell>
    </Row>
  );
}

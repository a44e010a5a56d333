import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { assistantName, assistantsQuery, type ListedAssistant } from '../../api/assistants.ts';
import { useSession } from '../../api/session.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Select, TextInput } from '../../ui/fields.tsx';
import { FilterBar } from '../../ui/filter-bar.tsx';
import { Ago } from '../../ui/format.tsx';
import { Page } from '../../ui/page.tsx';
import { EmptyList } from '../../ui/paged-list.tsx';
import { Failure, Loading } from '../../ui/states.tsx';
import { type Column, ItemTable, OPENS } from '../../ui/table.tsx';
import { CreateAssistant } from './create.tsx';

/** List of all assistants, each a graph with its own configuration. */
export function Assistants() {
  const [isCreating, setCreating] = useState(false);
  const { can } = useSession();
  return (
    <Page
      title="Assistants"
      actions={
        can('admin') && (
          <Button look="primary" onClick={() => setCreating(true)}>
            New assistant
          </Button>
        )
      }
    >
      <Filters />
      <List />
      <Dialog title="New assistant" open={isCreating} onClose={() => setCreating(false)}>
        <CreateAssistant close={() => setCreating(false)} />
      </Dialog>
    </Page>
  );
}

function Filters() {
  const { name = '', graph = '' } = useSearch({ from: '/assistants' });
  const navigate = useNavigate({ from: '/assistants' });
  const { data = [] } = useQuery(assistantsQuery);
  const graphs = [...new Set(data.map(({ graph_id }) => graph_id))].sort();
  const set = (change: { name?: string; graph?: string }) =>
    void navigate({ search: (before) => ({ ...before, ...change }), replace: true });
  return (
    <FilterBar filters={{ name, graph }}>
      <TextInput
        type="search"
        aria-label="Name"
        placeholder="Name or description"
        value={name}
        onChange={({ target }) => set({ name: target.value })}
      />
      <Select
        aria-label="Graph"
        value={graph}
        onChange={({ target }) => set({ graph: target.value })}
        options={[['', 'Any graph'], ...graphs.map((each) => [each, each] as const)]}
      />
    </FilterBar>
  );
}

function List() {
  const { name = '', graph = '' } = useSearch({ from: '/assistants' });
  const { data, error, refetch } = useQuery(assistantsQuery);
  if (error) return <Failure error={error} retry={() => void refetch()} />;
  if (!data) return <Loading what="assistants" />;
  const text = name.toLowerCase();
  const fitting = data.filter(
    (each) =>
      (graph === '' || each.graph_id === graph) &&
      `${assistantName(each)} ${each.description ?? ''}`.toLowerCase().includes(text),
  );
  if (fitting.length === 0) {
    return (
      <EmptyList filters={{ name, graph }} fits="No matching assistants" none="No assistants">
        Add a graph to the configuration.
      </EmptyList>
    );
  }
  return (
    <ItemTable
      label="Assistants"
      items={fitting}
      keyOf={({ assistant_id }) => assistant_id}
      columns={COLUMNS}
    />
  );
}

const COLUMNS: readonly Column<ListedAssistant>[] = [
  {
    name: 'Assistant',
    className: 'whitespace-nowrap',
    cell: (assistant) => (
      <Link
        {...OPENS}
        to="/assistants/$assistantId"
        params={{ assistantId: assistant.assistant_id }}
        className="font-medium hover:text-accent"
      >
        {assistantName(assistant)}
      </Link>
    ),
  },
  {
    name: 'Graph',
    className: 'whitespace-nowrap',
    cell: ({ assistant_id, graph_id }) => (
      <Link
        to="/graphs/$assistantId"
        params={{ assistantId: assistant_id }}
        className="text-ink-2 hover:text-accent"
      >
        {graph_id}
      </Link>
    ),
  },
  { name: 'Version', className: 'text-ink-2', cell: ({ version }) => version },
  { name: 'Updated', className: 'text-ink-2', cell: ({ updated_at }) => <Ago at={updated_at} /> },
  {
    name: 'Description',
    className: 'max-w-[48ch] min-w-40 truncate text-ink-2',
    cell: ({ description }) => description,
  },
];

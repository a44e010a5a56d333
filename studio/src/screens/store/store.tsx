import { useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { useSession } from '../../api/session.ts';
import { Button } from '../../ui/button.tsx';
import { TextInput } from '../../ui/fields.tsx';
import { Page } from '../../ui/page.tsx';
import { Filters } from './filters.tsx';
import { ItemDetails } from './item-details.tsx';
import { ItemForm } from './item-form.tsx';
import { Items } from './items.tsx';
import { Namespaces } from './namespaces.tsx';
import type { StoreView } from './store-queries.ts';

/** The long-term store. Namespace, search, filters and the open item are in the address. */
export function Store() {
  const view: StoreView = useSearch({ from: '/store' });
  const { can } = useSession();
  const [isNew, setNew] = useState(false);
  return (
    <Page
      title="Store"
      actions={
        can('run') && (
          <Button look="primary" onClick={() => setNew(true)}>
            New item
          </Button>
        )
      }
    >
      <search className="flex flex-col gap-2">
        <Search key={view.query ?? ''} query={view.query ?? ''} />
        <Filters filter={view.filter} />
      </search>
      <div className="grid items-start gap-4 lg:grid-cols-[220px_minmax(0,1fr)]">
        <Namespaces />
        <Items key={JSON.stringify([view.namespace, view.query, view.filter])} view={view} />
      </div>
      {view.item !== undefined && view.key !== undefined && (
        <ItemDetails key={`${view.item} ${view.key}`} namespace={view.item} itemKey={view.key} />
      )}
      <ItemForm namespace={view.namespace ?? ''} open={isNew} onClose={() => setNew(false)} />
    </Page>
  );
}

function Search({ query }: { query: string }) {
  const navigate = useNavigate({ from: '/store' });
  const [text, setText] = useState(query);
  return (
    <form
      className="flex flex-wrap gap-2"
      onSubmit={(event) => {
        event.preventDefault();
        void navigate({ search: ({ namespace, filter }) => ({ namespace, filter, query: text.trim() }) });
      }}
    >
      <TextInput
        type="search"
        aria-label="Search items"
        placeholder="Search by words, or by meaning with an index"
        className="w-80 max-w-full"
        value={text}
        onChange={({ target }) => setText(target.value)}
      />
      <Button type="submit">Search</Button>
    </form>
  );
}

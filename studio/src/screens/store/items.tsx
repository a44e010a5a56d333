import { useInfiniteQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { useSession } from '../../api/session.ts';
import { Button } from '../../ui/button.tsx';
import { Confirm } from '../../ui/confirm.tsx';
import { Ago, count } from '../../ui/format.tsx';
import { Empty, Failure, Loading } from '../../ui/states.tsx';
import { Cell, Row, Table } from '../../ui/table.tsx';
import { useMore } from '../../ui/use-more.ts';
import { deleteItem, type Item, itemsQuery, type StoreView } from './store-queries.ts';

/** Of a value, in a row. */
const PREVIEW = 200;

const idOf = ({ namespace, key }: Item): string => JSON.stringify([namespace, key]);

/** Items of a namespace or of a search; several can be deleted at once. */
export function Items({ view }: { view: StoreView }) {
  const query = useInfiniteQuery(itemsQuery(view));
  const { data, error, refetch, hasNextPage } = query;
  const { isLoading, loadMore } = useMore(query);
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  if (error) return <Failure error={error} retry={() => void refetch()} />;
  if (!data) return <Loading what="items" />;
  const items = data.pages.flat();
  if (items.length === 0) {
    return (
      <Empty title={view.query ? 'Nothing was found' : 'No items'}>
        {view.query ? 'Try other words, or search all namespaces.' : 'Graphs put here what they remember.'}
      </Empty>
    );
  }
  const selected = items.filter((item) => chosen.has(idOf(item)));
  const choose = (these: readonly Item[], isChosen: boolean) => {
    const next = new Set(chosen);
    for (const item of these) isChosen ? next.add(idOf(item)) : next.delete(idOf(item));
    setChosen(next);
  };
  return (
    <div className="flex min-w-0 flex-col gap-3">
      <Selection items={items} selected={selected} choose={choose} />
      <Table
        label="Items"
        columns={[
          <span key="chosen" className="sr-only">
            Selected
          </span>,
          'Key',
          'Namespace',
          ...(view.query ? ['Score'] : []),
          'Value',
          'Changed',
        ]}
      >
        {items.map((item) => (
          <ItemRow
            key={idOf(item)}
            item={item}
            view={view}
            isChosen={chosen.has(idOf(item))}
            choose={choose}
          />
        ))}
      </Table>
      {hasNextPage && (
        <Button className="self-center" disabled={isLoading} onClick={loadMore}>
          Show more items
        </Button>
      )}
    </div>
  );
}

type Choose = (items: readonly Item[], isChosen: boolean) => void;

interface SelectionProps {
  readonly items: readonly Item[];
  readonly selected: readonly Item[];
  readonly choose: Choose;
}

function Selection({ items, selected, choose }: SelectionProps) {
  const client = useQueryClient();
  if (!useSession().can('run')) return null;
  async function remove() {
    try {
      for (const item of selected) {
        await deleteItem(item);
        choose([item], false);
      }
    } finally {
      await client.invalidateQueries({ queryKey: ['item'] });
    }
  }
  return (
    <div className="flex min-h-7 items-center gap-3 px-3">
      <label className="flex items-center gap-2 text-ink-2">
        <input
          type="checkbox"
          className="align-middle accent-(--accent)"
          checked={selected.length === items.length}
          onChange={({ target }) => choose(items, target.checked)}
        />
        {selected.length === 0 ? 'Select all that are shown' : `${count(selected.length)} selected`}
      </label>
      {selected.length > 0 && (
        <Confirm action="Delete" question={`Delete ${count(selected.length)} items?`} onConfirm={remove}>
          Assistants forget them. This cannot be undone.
        </Confirm>
      )}
    </div>
  );
}

interface ItemRowProps {
  readonly item: Item;
  readonly view: StoreView;
  readonly isChosen: boolean;
  readonly choose: Choose;
}

function ItemRow({ item, view, isChosen, choose }: ItemRowProps) {
  const namespace = item.namespace.join('.');
  const isOpen = view.item === namespace && view.key === item.key;
  return (
    <Row aria-current={isOpen}>
      <Cell className="w-8">
        <input
          type="checkbox"
          aria-label={`Select ${item.key}`}
          className="align-middle accent-(--accent)"
          checked={isChosen}
          onChange={({ target }) => choose([item], target.checked)}
        />
      </Cell>
      <Cell className="max-w-[28ch] truncate">
        <Link
          to="/store"
          search={(before) => ({ ...before, item: namespace, key: item.key })}
          className="font-medium hover:text-accent"
        >
          {item.key}
        </Link>
      </Cell>
      <Cell className="max-w-[28ch] truncate text-ink-2">{namespace}</Cell>
      {view.query && <Cell className="text-ink-2">{item.score?.toFixed(3) ?? ''}</Cell>}
      <Cell className="max-w-[48ch] truncate font-mono text-xs text-ink-2">
        {JSON.stringify(item.value).slice(0, PREVIEW)}
      </Cell>
      <Cell className="text-ink-2">
        <Ago at={item.updated_at} />
      </Cell>
    </Row>
  );
}

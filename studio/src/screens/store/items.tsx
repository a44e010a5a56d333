import { useInfiniteQuery, useQueryClient } from '@tanstack/react-query';
import { type KeyboardEvent, useState } from 'react';
import { useSession } from '../../api/session.ts';
import { Confirm } from '../../ui/confirm.tsx';
import { count, plural } from '../../ui/format.tsx';
import { NextPage } from '../../ui/paged-list.tsx';
import { Empty, Failure, Loading } from '../../ui/states.tsx';
import { Table } from '../../ui/table.tsx';
import { useMore } from '../../ui/use-more.ts';
import { ItemRow } from './item-row.tsx';
import { deleteItem, type Item, itemsQuery, type StoreView } from './store-queries.ts';
import { columnsOf, othersOf } from './value-columns.ts';

/** The column of the boxes. */
const SELECTED = 'Selected';

const idOf = ({ namespace, key }: Item): string => JSON.stringify([namespace, key]);

/** Moves between cells with the arrow keys, as in a spreadsheet. */
function moveByArrows(event: KeyboardEvent<HTMLTableElement>) {
  const [down, right] = MOVES[event.key] ?? [0, 0];
  const at = (event.target as HTMLElement).dataset['cell']?.split(',').map(Number);
  if (!at || (down === 0 && right === 0)) return;
  const [row = 0, column = 0] = at;
  event.preventDefault();
  event.currentTarget.querySelector<HTMLElement>(`[data-cell="${row + down},${column + right}"]`)?.focus();
}

const MOVES: Readonly<Record<string, readonly [down: number, right: number]>> = {
  ArrowUp: [-1, 0],
  ArrowDown: [1, 0],
  ArrowLeft: [0, -1],
  ArrowRight: [0, 1],
};

/** Items of a namespace or search as a spreadsheet, with bulk delete. */
export function Items({ view }: { view: StoreView }) {
  const query = useInfiniteQuery(itemsQuery(view));
  const { data } = query;
  const next = useMore(query);
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const [stop, setStop] = useState([0, 0]);
  if (!data) return next.error ? <Failure error={next.error} retry={next.retry} /> : <Loading what="items" />;
  const items = data.pages.flat();
  if (items.length === 0) {
    return (
      <Empty title={view.query || view.filter ? 'No matching items' : 'No items'}>
        {view.query || view.filter
          ? 'Try other words, remove a filter, or search all namespaces.'
          : 'Graphs store long-term memories here.'}
      </Empty>
    );
  }
  const columns = columnsOf(items);
  const hasOthers = items.some((item) => othersOf(item, columns) !== '');
  // Keeps the tab stop inside a table that has shrunk.
  const stopRow = Math.min(stop[0] ?? 0, items.length - 1);
  const stopColumn = Math.min(stop[1] ?? 0, columns.length - 1);
  const selected = items.filter((item) => chosen.has(idOf(item)));
  const choose = (these: readonly Item[], isChosen: boolean) => {
    const after = new Set(chosen);
    for (const item of these) isChosen ? after.add(idOf(item)) : after.delete(idOf(item));
    setChosen(after);
  };
  return (
    <div className="flex min-w-0 flex-col gap-3">
      <Selection items={items} selected={selected} choose={choose} />
      <Table
        label="Items"
        columns={[
          SELECTED,
          'Key',
          'Namespace',
          ...(view.query ? ['Score'] : []),
          ...columns,
          ...(hasOthers ? ['Other fields'] : []),
          'Updated',
        ]}
        unnamed={[SELECTED]}
        onKeyDown={moveByArrows}
      >
        {items.map((item, row) => (
          <ItemRow
            key={idOf(item)}
            item={item}
            view={view}
            columns={columns}
            hasOthers={hasOthers}
            row={row}
            stop={row === stopRow ? stopColumn : undefined}
            setStop={(column) => setStop([row, column])}
            isChosen={chosen.has(idOf(item))}
            choose={choose}
          />
        ))}
      </Table>
      <NextPage more="Show more items" next={next} />
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
        {selected.length === 0 ? 'Select all shown' : `${count(selected.length)} selected`}
      </label>
      {selected.length === 0 && (
        <p className="ml-auto text-xs text-ink-3 max-sm:hidden">
          Double-click a field, or press Enter on it, to edit it.
        </p>
      )}
      {selected.length > 0 && (
        <Confirm
          action="Delete"
          question={`Delete ${count(selected.length)} ${plural(selected.length, 'item')}?`}
          onConfirm={remove}
        >
          Assistants can no longer read {plural(selected.length, 'it', 'them')}. This cannot be undone.
        </Confirm>
      )}
    </div>
  );
}

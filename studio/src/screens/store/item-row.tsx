import { Link, useNavigate } from '@tanstack/react-router';
import { useSession } from '../../api/session.ts';
import { Ago } from '../../ui/format.tsx';
import { Cell, Row } from '../../ui/table.tsx';
import type { Item, StoreView } from './store-queries.ts';
import { ValueCell, ValueText } from './value-cell.tsx';
import { othersOf } from './value-columns.ts';

interface ItemRowProps {
  readonly item: Item;
  readonly view: StoreView;
  /** Fields of the value that have a column. */
  readonly columns: readonly string[];
  /** Whether items have fields without a column. */
  readonly hasOthers: boolean;
  readonly row: number;
  /** Column of the table's only tab stop, if it is in this row. */
  readonly stop: number | undefined;
  readonly setStop: (column: number) => void;
  readonly isChosen: boolean;
  readonly choose: (items: readonly Item[], isChosen: boolean) => void;
}

/** An item as a row of the spreadsheet. */
export function ItemRow({ item, view, columns, hasOthers, isChosen, choose, ...cells }: ItemRowProps) {
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
      <Cell className="max-w-[22ch] truncate">
        <Link
          to="/store"
          search={(before) => ({ ...before, item: namespace, key: item.key })}
          className="font-medium hover:text-accent"
        >
          {item.key}
        </Link>
      </Cell>
      <Cell className="max-w-[22ch] truncate text-ink-2">{namespace}</Cell>
      {view.query && <Cell className="text-ink-2">{item.score?.toFixed(3) ?? ''}</Cell>}
      <ValueCells item={item} columns={columns} {...cells} />
      {hasOthers && (
        <Cell className="max-w-[24ch] truncate text-xs text-ink-3">{othersOf(item, columns)}</Cell>
      )}
      <Cell className="whitespace-nowrap text-ink-2">
        <Ago at={item.updated_at} />
      </Cell>
    </Row>
  );
}

type ValueCellsProps = Pick<ItemRowProps, 'item' | 'columns' | 'row' | 'stop' | 'setStop'>;

function ValueCells({ item, columns, row, stop, setStop }: ValueCellsProps) {
  const { can } = useSession();
  const navigate = useNavigate({ from: '/store' });
  const open = () =>
    void navigate({
      search: (before) => ({ ...before, item: item.namespace.join('.'), key: item.key }),
    });
  return columns.map((field, column) => (
    <Cell key={field} className="max-w-[32ch] truncate">
      {can('run') ? (
        <ValueCell
          item={item}
          field={field}
          place={`${row},${column}`}
          isStop={stop === column}
          stop={() => setStop(column)}
          open={open}
        />
      ) : (
        <ValueText item={item} field={field} />
      )}
    </Cell>
  ));
}

import type { ComponentProps, KeyboardEventHandler, MouseEvent, ReactNode } from 'react';
import { Card } from './page.tsx';

interface TableProps {
  readonly label: string;
  /** Column names. Wrap those for screen readers only in `<span className="sr-only">`. */
  readonly columns: readonly ReactNode[];
  readonly children: ReactNode;
  readonly onKeyDown?: KeyboardEventHandler<HTMLTableElement>;
}

/** A table that scrolls by itself if it is too wide. */
export function Table({ label, columns, children, onKeyDown }: TableProps) {
  return (
    // Positions hidden content within its cell, or it would widen the page.
    <Card className="relative flex-none overflow-x-auto">
      <table aria-label={label} className="w-full text-left" onKeyDown={onKeyDown}>
        <thead className="text-xs text-ink-3">
          <tr className="border-b border-line">
            {columns.map((name, i) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: columns do not change places
              <th key={i} scope="col" className="px-3 py-2 font-normal whitespace-nowrap">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </Card>
  );
}

/** Attribute of the link that a click anywhere on its row follows. */
export const OPENS = { 'data-opens': '' };

const CONTROLS = 'a, button, input, select, textarea, label, summary';

/** Follows the row's link as a click on it would, with the same modifier keys. */
function openRow(event: MouseEvent<HTMLTableRowElement>) {
  const { target, currentTarget, ctrlKey, metaKey, shiftKey } = event;
  const isOutside = !currentTarget.contains(target as Node);
  if (isOutside || (target as Element).closest(CONTROLS) || getSelection()?.isCollapsed === false) return;
  const click = { bubbles: true, cancelable: true, ctrlKey, metaKey, shiftKey };
  currentTarget.querySelector('[data-opens]')?.dispatchEvent(new globalThis.MouseEvent('click', click));
}

/** A click anywhere on it opens its link with `OPENS`, if it has one. */
export function Row(props: ComponentProps<'tr'>) {
  return (
    // By keyboard, the link itself does the same.
    <tr
      {...props}
      onClick={openRow}
      className="border-b border-line last:border-0 hover:bg-sunk has-data-opens:cursor-pointer"
    />
  );
}

export function Cell({ className = '', ...props }: ComponentProps<'td'>) {
  return <td {...props} className={`px-3 py-1.5 ${className}`} />;
}

export interface Column<Item> {
  readonly name: string;
  /** Content of the cell. Without any in all rows, the column is hidden. */
  readonly cell: (item: Item) => ReactNode;
  readonly className?: string;
}

interface ItemTableProps<Item> {
  readonly label: string;
  readonly items: readonly Item[];
  readonly keyOf: (item: Item) => string;
  readonly columns: readonly Column<Item>[];
}

/** A table with a row for each item, and without columns that would be empty. */
export function ItemTable<Item>({ label, items, keyOf, columns }: ItemTableProps<Item>) {
  const rows = items.map((item) => ({ item, cells: columns.map(({ cell }) => cell(item)) }));
  const shown = columns
    .map((column, i) => ({ column, i }))
    .filter(({ i }) => rows.some(({ cells }) => isFilled(cells[i])));
  return (
    <Table label={label} columns={shown.map(({ column }) => column.name)}>
      {rows.map(({ item, cells }) => (
        <Row key={keyOf(item)}>
          {shown.map(({ column, i }) => (
            <Cell key={column.name} className={column.className}>
              {cells[i]}
            </Cell>
          ))}
        </Row>
      ))}
    </Table>
  );
}

const isFilled = (cell: ReactNode) => cell !== undefined && cell !== null && cell !== false && cell !== '';

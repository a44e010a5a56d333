import type { ComponentProps, KeyboardEventHandler, MouseEvent, ReactNode } from 'react';
import { useColumnWidths } from './column-widths.tsx';
import { Card } from './page.tsx';

interface TableProps {
  readonly label: string;
  /** Column names. */
  readonly columns: readonly string[];
  /** Those of them that are for screen readers only. */
  readonly unnamed?: readonly string[];
  readonly children: ReactNode;
  readonly onKeyDown?: KeyboardEventHandler<HTMLTableElement>;
}

/** A table that scrolls by itself if it is too wide. */
export function Table({ label, columns, unnamed = [], children, onKeyDown }: TableProps) {
  const { style, className, columns: widths, handle } = useColumnWidths(label, columns);
  return (
    // Positions hidden content within its cell, or it would widen the page. Scrolls by keyboard.
    <Card role="group" aria-label={label} tabIndex={0} className="relative flex-none overflow-x-auto">
      <table aria-label={label} className={`text-left ${className}`} style={style} onKeyDown={onKeyDown}>
        {widths}
        <thead className="text-xs text-ink-3">
          <tr className="border-b border-line">
            {columns.map((name, i) => (
              <th
                // biome-ignore lint/suspicious/noArrayIndexKey: two fields of the user's may have one name
                key={i}
                scope="col"
                data-column={name}
                className="relative px-3 py-2 font-normal whitespace-nowrap"
              >
                {unnamed.includes(name) ? (
                  <span className="sr-only">{name}</span>
                ) : (
                  <>
                    <bdi className="block max-w-[32ch] truncate">{name}</bdi>
                    {handle(name)}
                  </>
                )}
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
  /** The name is for screen readers only. */
  readonly isUnnamed?: boolean;
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
    <Table
      label={label}
      columns={shown.map(({ column }) => column.name)}
      unnamed={columns.filter(({ isUnnamed }) => isUnnamed).map(({ name }) => name)}
    >
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

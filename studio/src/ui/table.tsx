import type { ComponentProps, KeyboardEventHandler, ReactNode } from 'react';
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

export function Row(props: ComponentProps<'tr'>) {
  return <tr {...props} className="border-b border-line last:border-0 hover:bg-sunk" />;
}

export function Cell({ className = '', ...props }: ComponentProps<'td'>) {
  return <td {...props} className={`px-3 py-1.5 ${className}`} />;
}

import { type ReactNode, useId, useState } from 'react';
import { Button } from './button.tsx';

interface FilterBarProps {
  /** Filters in effect. */
  readonly filters: object;
  readonly children: ReactNode;
}

/** The filters of a list. On small screens they are behind a button. */
export function FilterBar({ filters, children }: FilterBarProps) {
  const [isOpen, setOpen] = useState(false);
  const id = useId();
  const set = Object.values(filters).filter(Boolean).length;
  return (
    <search className="flex flex-col gap-2">
      <Button
        className="self-start sm:hidden"
        aria-expanded={isOpen}
        aria-controls={id}
        onClick={() => setOpen(!isOpen)}
      >
        {set > 0 ? `Filters (${set})` : 'Filters'}
      </Button>
      <div
        id={id}
        className={`flex flex-wrap items-start gap-2 max-sm:flex-col max-sm:*:w-full ${isOpen ? '' : 'max-sm:hidden'}`}
      >
        {children}
      </div>
    </search>
  );
}

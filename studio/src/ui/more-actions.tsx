import { type ReactNode, useId, useState } from 'react';
import { Button } from './button.tsx';

/** Actions of a page that are behind a button on small screens, so that the content has the room. */
export function MoreActions({ children }: { children: ReactNode }) {
  const [isOpen, setOpen] = useState(false);
  const id = useId();
  return (
    <>
      <Button
        className="sm:hidden"
        aria-expanded={isOpen}
        aria-controls={id}
        onClick={() => setOpen(!isOpen)}
      >
        More
      </Button>
      <div
        id={id}
        className={`contents max-sm:order-last max-sm:w-full max-sm:flex-wrap max-sm:gap-2 ${isOpen ? 'max-sm:flex' : 'max-sm:hidden'}`}
      >
        {children}
      </div>
    </>
  );
}

import { Link } from '@tanstack/react-router';
import { type ReactNode, useEffect, useRef } from 'react';

interface Tab<Name extends string> {
  readonly name: Name;
  readonly label: ReactNode;
}

/** Tabs as links. `tab` in the address selects one. */
export function Tabs<Name extends string>({ tabs, open }: { tabs: readonly Tab<Name>[]; open: Name }) {
  const nav = useRef<HTMLElement>(null);
  // On small screens the row scrolls, so bring the open tab into view.
  // biome-ignore lint/correctness/useExhaustiveDependencies: another tab is open with another name
  useEffect(() => {
    nav.current
      ?.querySelector('[aria-current=page]')
      ?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
  }, [open]);
  return (
    <nav ref={nav} aria-label="Views" className="flex flex-none gap-5 overflow-x-auto border-b border-line">
      {tabs.map(({ name, label }, i) => (
        <Link
          key={name}
          to="."
          search={(before: object) => ({ ...before, tab: i === 0 ? undefined : name })}
          replace
          // Exact, or the first tab, which has no `tab`, would always be current.
          activeOptions={{ explicitUndefined: true }}
          aria-current={name === open ? 'page' : undefined}
          // Inset focus ring: the scrolling row clips what is outside.
          className={
            name === open
              ? 'border-b-2 border-accent pt-1.5 pb-2 font-medium whitespace-nowrap focus-visible:-outline-offset-2'
              : 'pt-1.5 pb-2 whitespace-nowrap text-ink-2 hover:text-ink focus-visible:-outline-offset-2'
          }
        >
          {label}
        </Link>
      ))}
    </nav>
  );
}

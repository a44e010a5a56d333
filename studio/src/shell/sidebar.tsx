import { useQuery } from '@tanstack/react-query';
import { Link, useLocation } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';
import type { Schemas } from '../api/client.ts';
import { useSession } from '../api/session.ts';
import logo from '../icon.svg';
import { overviewQuery } from '../screens/overview/overview-query.ts';
import { byteSize } from '../ui/format.tsx';
import { Count } from './count.tsx';
import { groupsOf } from './navigation.ts';

/** Navigation: a sidebar, or a strip at the top on small screens. */
export function Sidebar() {
  const session = useSession();
  // Callers who may not read the overview see the links only.
  const { isOperator: isAllowed } = session;
  const { data: overview } = useQuery({ ...overviewQuery, enabled: isAllowed });
  const nav = useRef<HTMLElement>(null);
  const screen = useLocation({ select: ({ pathname }) => pathname });
  const hasCounts = overview !== undefined;
  // biome-ignore lint/correctness/useExhaustiveDependencies: the link of the screen is another one with its path, and elsewhere with counts
  useEffect(() => {
    nav.current
      ?.querySelector('[aria-current=page]')
      ?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
  }, [screen, hasCounts]);
  return (
    <nav
      ref={nav}
      aria-label="Screens"
      className="flex min-w-0 gap-px overflow-x-auto border-line px-2 py-3 max-md:border-b md:flex-col md:border-r md:pt-0"
    >
      <p className="flex h-12 flex-none items-center gap-2 px-2 font-semibold max-md:hidden">
        <img src={logo} alt="" className="size-5" />
        Agent Server
      </p>
      {groupsOf(session).map((screens) => (
        <ul
          key={screens[0]?.to}
          className="flex gap-px border-line not-last-of-type:md:mb-2 not-last-of-type:md:border-b not-last-of-type:md:pb-2 md:flex-col"
        >
          {screens.map(({ to, label, Icon }) => (
            <li key={to} className="relative flex items-center md:block">
              <Link
                to={to}
                activeOptions={{ exact: to === '/' }}
                className="flex items-center gap-2 rounded-md px-2.5 py-[5px] whitespace-nowrap text-ink-2 hover:text-ink aria-[current=page]:bg-sunk aria-[current=page]:font-medium aria-[current=page]:text-ink"
              >
                <Icon size={15} strokeWidth={1.75} aria-hidden className="flex-none" />
                {label}
              </Link>
              {overview && <Count to={to} overview={overview} />}
            </li>
          ))}
        </ul>
      ))}
      {overview && <Server overview={overview} />}
    </nav>
  );
}

/** Server version, storage engine and size. */
function Server({ overview: { storage, versions } }: { overview: Schemas['SystemOverview'] }) {
  const engine = storage.engine === 'sqlite' ? 'SQLite' : 'PostgreSQL';
  return (
    <p className="mt-auto px-2.5 text-xs text-ink-3 max-md:hidden">
      {versions.server} · {engine} · {byteSize(storage.size_bytes)}
    </p>
  );
}

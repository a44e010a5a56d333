import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useMemo } from 'react';
import { Card } from '../../ui/page.tsx';
import { Failure, Loading } from '../../ui/states.tsx';
import { type Branch, namespaceTree } from './namespace-tree.ts';
import { namespacesQuery } from './store-queries.ts';

const LINK =
  'block truncate rounded-md px-2 py-1 text-ink-2 hover:text-ink aria-[current=page]:bg-sunk aria-[current=page]:font-medium aria-[current=page]:text-ink';

/** Namespaces as a tree. Each links to the items below it. */
export function Namespaces() {
  const { data, error, refetch } = useQuery(namespacesQuery);
  const tree = useMemo(() => namespaceTree(data ?? []), [data]);
  if (error) return <Failure error={error} retry={() => void refetch()} />;
  if (!data) return <Loading what="namespaces" />;
  return (
    <Card className="max-h-[70vh] overflow-auto p-2 max-lg:max-h-48">
      <nav aria-label="Namespaces">
        <Link
          to="/store"
          search={({ query, filter }) => ({ query, filter, namespace: undefined })}
          activeOptions={{ explicitUndefined: true }}
          className={LINK}
        >
          All namespaces
        </Link>
        <Branches branches={tree} />
      </nav>
    </Card>
  );
}

function Branches({ branches }: { branches: readonly Branch[] }) {
  if (branches.length === 0) return null;
  return (
    <ul className="flex flex-col gap-px pl-3">
      {branches.map(({ label, path, children }) => (
        <li key={path}>
          <Link
            to="/store"
            search={({ query, filter }) => ({ query, filter, namespace: path })}
            activeOptions={{ explicitUndefined: true }}
            className={LINK}
          >
            {label}
          </Link>
          <Branches branches={children} />
        </li>
      ))}
    </ul>
  );
}

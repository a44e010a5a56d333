import { useQueries, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useMemo } from 'react';
import { buttonClass } from '../../ui/button.tsx';
import { type Fork, forksOf } from './branches.ts';
import { messageCountQuery, treeQuery } from './chat-queries.ts';

/** Forks of the shown branch, by index of the first message that differs. */
export function useForks(thread_id: string, head_id: string | null | undefined): ReadonlyMap<number, Fork> {
  const { data: tree } = useQuery(treeQuery(thread_id));
  const forks = useMemo(() => (tree && head_id ? forksOf(tree, head_id) : []), [tree, head_id]);
  const counts = useQueries({
    queries: forks.map(({ parent_id }) => messageCountQuery(thread_id, parent_id)),
  });
  // If histories fork twice at one message, the later fork separates its versions.
  return new Map(
    forks.flatMap((fork, i) => {
      const count = counts[i]?.data;
      return count === undefined ? [] : [[count, fork] as const];
    }),
  );
}

/** ‹2/3›: links to the branches that start at a message. */
export function BranchSwitch({ fork: { heads, position } }: { fork: Fork }) {
  return (
    <nav aria-label="Versions of this message" className="flex items-center text-xs text-ink-2 tabular-nums">
      <Step to={heads[position - 1]} label="Earlier version">
        ‹
      </Step>
      <span>
        {position + 1}/{heads.length}
      </span>
      <Step to={heads[position + 1]} label="Later version">
        ›
      </Step>
    </nav>
  );
}

function Step({ to, label, children }: { to: string | undefined; label: string; children: string }) {
  const look = `${buttonClass('quiet')} px-1.5`;
  if (to === undefined)
    return (
      <span className={`${look} opacity-40`} aria-hidden="true">
        {children}
      </span>
    );
  return (
    <Link
      to="."
      search={(before: object) => ({ ...before, at: to })}
      replace
      aria-label={label}
      className={look}
    >
      {children}
    </Link>
  );
}

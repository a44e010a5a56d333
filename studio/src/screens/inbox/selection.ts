import { useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { isAnswered, refusalOf, type useAnswers } from '../interrupts/answer.ts';
import { keyOf, type Linked, linkedBy, type Waiting, waitsQuery } from './inbox-query.ts';

/** The pages of the list. */
export interface Pages {
  readonly error: unknown;
  readonly hasNextPage: boolean;
  readonly fetchNextPage: (options: { cancelRefetch: boolean }) => Promise<{
    readonly hasNextPage: boolean;
    readonly isError: boolean;
  }>;
}

/**
 * The selected row is in the address. After an answer here, the next row is selected. If it disappears for another reason,
 * or did before its link was opened, it is `gone` and nothing is selected in its place: the key that the reader is about to
 * press was meant for it.
 */
export function useSelection(
  waiting: readonly Waiting[],
  answers: ReturnType<typeof useAnswers>,
  pages: Pages,
) {
  const { interrupt } = useSearch({ from: '/inbox' });
  const navigate = useNavigate({ from: '/inbox' });
  const [last, setLast] = useState<{ readonly at: number; readonly row: Waiting }>();
  const keys = waiting.map(keyOf);
  const found = keys.indexOf(interrupt ?? '');
  const link = useLink(found < 0 && !last ? interrupt : undefined, pages);
  const isGone = found < 0 && last && !keys.includes(keyOf(last.row)) && !isAnswer(answers, last.row);
  const gone: Linked | undefined = isGone ? last.row : link.gone;
  const at = found >= 0 ? found : Math.min(last?.at ?? 0, waiting.length - 1);
  const selected = gone || link.isLookedUp ? undefined : waiting[at];
  if (selected && (last?.at !== at || last.row !== selected)) setLast({ at, row: selected });
  function open(row: Waiting | undefined) {
    if (!row) setLast(undefined);
    const key = row && keyOf(row);
    void navigate({
      search: ({ interrupt: _, ...before }) => ({ ...before, ...(key && { interrupt: key }) }),
      replace: true,
    });
  }
  const select = (by: number) => open(waiting[Math.min(waiting.length - 1, Math.max(0, at + by))]);
  return {
    selected,
    gone,
    isLookedUp: link.isLookedUp,
    select: gone ? () => open(waiting[at]) : select,
    dismiss: () => open(waiting[at]),
  };
}

/** Looks up the question of an address that the list does not show: on a later page, or answered. */
function useLink(
  key: string | undefined,
  { error, hasNextPage, fetchNextPage }: Pages,
): { readonly isLookedUp: boolean; readonly gone?: Linked } {
  const linked = key === undefined ? undefined : linkedBy(key);
  const { data: waits, isPending } = useQuery({
    ...waitsQuery(linked ?? { thread_id: '', interrupt_id: '' }),
    enabled: linked !== undefined,
  });
  const isFurther = linked !== undefined && waits === true && hasNextPage;
  useEffect(() => {
    let isOver = !isFurther || error !== null;
    // A refetch that is under way goes first. The list shows errors; the lookup continues after its retry.
    const next = () =>
      fetchNextPage({ cancelRefetch: false }).then((list) => {
        isOver ||= list.isError || !list.hasNextPage;
        if (!isOver) void next();
      });
    if (!isOver) void next();
    return () => {
      isOver = true;
    };
  }, [isFurther, error, fetchNextPage]);
  if (!linked) return { isLookedUp: false };
  if (isPending || isFurther) return { isLookedUp: true };
  return waits === true ? { isLookedUp: false } : { isLookedUp: false, gone: linked };
}

function isAnswer(answers: ReturnType<typeof useAnswers>, { thread_id, interrupt_id }: Waiting) {
  const isRefused = refusalOf(answers, thread_id, interrupt_id) !== null;
  return !isRefused && isAnswered(answers, thread_id, interrupt_id);
}

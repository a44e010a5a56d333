import { useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useCallback, useEffect, useState, useSyncExternalStore } from 'react';
import { Button } from '../ui/button.tsx';
import { isShown, watchShown } from '../ui/shown-errors.ts';

/** What is wrong with the page as a whole, above it. */
export function Notices({ isAway }: { isAway: boolean }) {
  const client = useQueryClient();
  const missing = useLasting(useMissing());
  if (isAway) {
    return (
      <Notice>
        The server does not answer. What you see is what was read last; it goes on by itself when the server
        is back.
      </Notice>
    );
  }
  if (missing === undefined) return null;
  const tryAgain = () =>
    client.refetchQueries({ type: 'active', predicate: ({ state }) => state.error !== null });
  return (
    <Notice>
      A part of this page could not be loaded: {missing}
      <Button onClick={() => void tryAgain()}>Try again</Button>
    </Notice>
  );
}

function Notice({ children }: { children: ReactNode }) {
  return (
    <p
      role="alert"
      className="flex flex-wrap items-center gap-x-3 gap-y-1 border-b border-line bg-wait-bg px-5 py-1.5 text-wait"
    >
      {children}
    </p>
  );
}

/** How long something is missing before the page says so, ms: most parts of it say so themselves in the next moment. */
const LASTING_MS = 500;

/** `text` once it has been there for a while. */
function useLasting(text: string | undefined): string | undefined {
  const [lasting, setLasting] = useState<string>();
  useEffect(() => {
    const timer = setTimeout(() => setLasting(text), text === undefined ? 0 : LASTING_MS);
    return () => clearTimeout(timer);
  }, [text]);
  return text === undefined ? undefined : lasting;
}

/** The error of a question that no part of the page shows, such as that for the names of assistants. */
function useMissing(): string | undefined {
  const client = useQueryClient();
  const watch = useCallback(
    (listener: () => void) => {
      const ends = [client.getQueryCache().subscribe(listener), watchShown(listener)];
      return () => {
        for (const end of ends) end();
      };
    },
    [client],
  );
  return useSyncExternalStore(watch, () => {
    const failed = client.getQueryCache().findAll({
      type: 'active',
      predicate: ({ state, meta }) => state.error !== null && meta?.['shown'] !== true,
    });
    return failed.find(({ state }) => !isShown(state.error))?.state.error?.message;
  });
}

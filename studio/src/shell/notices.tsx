import { useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useCallback, useEffect, useState, useSyncExternalStore } from 'react';
import { Button } from '../ui/button.tsx';
import { isShown, watchShown } from '../ui/shown-errors.ts';

/** Page-wide notices: connection lost, or data that failed to load. */
export function Notices({ isAway }: { isAway: boolean }) {
  const client = useQueryClient();
  const missing = useLasting(useMissing());
  if (isAway) {
    return (
      <Notice>
        The server is not responding. You see the data that was loaded last. Studio reconnects automatically.
      </Notice>
    );
  }
  if (missing === undefined) return null;
  const tryAgain = () =>
    client.refetchQueries({ type: 'active', predicate: ({ state }) => state.error !== null });
  return (
    <Notice>
      Part of this page could not be loaded: {missing}
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

/** Delay before the notice, ms: most parts of the page show their own error by then. */
const LASTING_MS = 500;

/** `text` once it has lasted for a while. */
function useLasting(text: string | undefined): string | undefined {
  const [lasting, setLasting] = useState<string>();
  useEffect(() => {
    const timer = setTimeout(() => setLasting(text), text === undefined ? 0 : LASTING_MS);
    return () => clearTimeout(timer);
  }, [text]);
  return text === undefined ? undefined : lasting;
}

/** The error of a query that no part of the page shows, such as the one for assistant names. */
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

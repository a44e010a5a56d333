import { useQueryClient } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { ApiError, Unreachable } from '../api/client.ts';
import { Button } from './button.tsx';
import { useShows } from './shown-errors.ts';

/** Appears only if loading takes long enough to be noticed. */
export function Loading({ what }: { what: string }) {
  return (
    <p role="status" className="animate-[appear_0s_300ms_both] p-6 text-ink-3">
      Loading {what} …
    </p>
  );
}

/** An empty state: what is missing, and how to get there. */
export function Empty({ title, children }: { title: string; children?: ReactNode }) {
  return (
    <div className="flex flex-col items-center gap-1 p-10 text-center">
      <p className="font-medium">{title}</p>
      <div className="max-w-md text-ink-2">{children}</div>
    </div>
  );
}

/** An error in the server's words, with a retry. */
export function Failure({ error, retry }: { error: unknown; retry?: (() => void) | undefined }) {
  const { title, hint } = describe(error);
  const client = useQueryClient();
  useShows(error);
  function tryAgain() {
    retry?.();
    // Other queries usually failed for the same reason, so retry them too.
    void client.refetchQueries({ type: 'active', predicate: ({ state }) => state.status === 'error' });
  }
  return (
    <div role="alert" className="flex flex-col items-start gap-2 p-6">
      <p className="font-medium text-err">{title}</p>
      {hint !== '' && <p className="max-w-prose break-words whitespace-pre-wrap text-ink-2">{hint}</p>}
      {retry && <Button onClick={tryAgain}>Try again</Button>}
    </div>
  );
}

/** The server's error for an invalid id in the address. */
const NO_ID = /^Invalid (\w+) ID: must be a UUID$/;

function describe(error: unknown): { title: string; hint: string } {
  const hint = error instanceof Error ? error.message : String(error);
  if (error instanceof Unreachable)
    return { title: 'The server is not responding', hint: 'Check that it is running, then try again.' };
  if (!(error instanceof ApiError)) return { title: 'Something went wrong', hint };
  if (error.status === 401) return { title: 'Signed out', hint };
  if (error.status === 403) return { title: 'Not allowed', hint };
  if (error.status === 404) return { title: 'Not found', hint };
  const [, kind] = (error.status === 422 && NO_ID.exec(hint)) || [];
  if (kind !== undefined) {
    return { title: 'Not found', hint: `The id of this ${kind} is not a UUID. Check the address.` };
  }
  return { title: `The server responded with ${error.status}`, hint };
}

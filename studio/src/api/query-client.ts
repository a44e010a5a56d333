import { QueryCache, QueryClient } from '@tanstack/react-query';
import { ApiError, onSignedOut, Unreachable } from './client.ts';
import { sessionQuery, watchOtherTabs } from './session.ts';

/** Retries if the server does not respond or is busy. */
const MAX_RETRIES = 2;

/** Delay before the first retry, ms. Doubles with each further one. */
const RETRY_MS = 400;

/** A rejection is final; an unreachable server may come back. */
function isTemporary(error: unknown): boolean {
  return !(error instanceof ApiError) || error.status >= 500;
}

/** The server itself did not answer: the session has ended, a proxy responded instead, or nothing did. */
function isNoAnswer(error: unknown): boolean {
  return (
    error instanceof Unreachable || (error instanceof ApiError && [401, 502, 503, 504].includes(error.status))
  );
}

export const queryClient: QueryClient = new QueryClient({
  queryCache: new QueryCache({
    onError(error, query) {
      // Loaded data stays on the page while the server is unreachable or no one is signed in. One notice tells the user.
      if (isNoAnswer(error) && query.state.data !== undefined)
        query.setState({ status: 'success', error: null });
    },
  }),
  defaultOptions: {
    // The server may run on a machine without a network.
    queries: {
      networkMode: 'always',
      staleTime: 5_000,
      retry: (failures, error) => failures < MAX_RETRIES && isTemporary(error),
      retryDelay: (failures) => RETRY_MS * 2 ** failures,
    },
    mutations: { networkMode: 'always' },
  },
});

watchOtherTabs(queryClient);
// The session expired, or its key was revoked.
onSignedOut(() => void queryClient.invalidateQueries({ queryKey: sessionQuery.queryKey }));

/** Resolves when someone is signed in, or `signal` aborts. */
export async function untilSignedIn(signal: AbortSignal): Promise<void> {
  // Find out first whether the session has ended.
  await queryClient.fetchQuery({ ...sessionQuery, staleTime: 0 }).catch(() => {});
  await new Promise<void>((resolve) => {
    function look() {
      if (queryClient.getQueryData(sessionQuery.queryKey)?.has_ended && !signal.aborted) return;
      unsubscribe();
      signal.removeEventListener('abort', look);
      resolve();
    }
    const unsubscribe = queryClient.getQueryCache().subscribe(look);
    signal.addEventListener('abort', look);
    look();
  });
}

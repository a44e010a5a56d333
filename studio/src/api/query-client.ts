import { QueryCache, QueryClient } from '@tanstack/react-query';
import { ApiError, onSignedOut, Unreachable } from './client.ts';
import { sessionQuery, watchOtherTabs } from './session.ts';

/** Attempts after the first when the server does not answer or is busy. */
const MAX_RETRIES = 2;

/** Before the first of them, ms; twice as long before each other. */
const RETRY_MS = 400;

/** A refusal stays one; a server that is away may come back. */
function isTemporary(error: unknown): boolean {
  return !(error instanceof ApiError) || error.status >= 500;
}

/** No answer about what was asked: the session has ended, a proxy speaks in the server's place, or nobody does. */
function isNoAnswer(error: unknown): boolean {
  return (
    error instanceof Unreachable || (error instanceof ApiError && [401, 502, 503, 504].includes(error.status))
  );
}

export const queryClient: QueryClient = new QueryClient({
  queryCache: new QueryCache({
    onError(error, query) {
      // What was read stays on the page while the server is away or nobody is signed in, which the page says once.
      if (isNoAnswer(error) && query.state.data !== undefined)
        query.setState({ status: 'success', error: null });
    },
  }),
  defaultOptions: {
    // The server may run on a machine without any network.
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
// The session has ended elsewhere: by time, or because its key was revoked.
onSignedOut(() => void queryClient.invalidateQueries({ queryKey: sessionQuery.queryKey }));

/** Resolves when somebody is signed in, or `signal` aborts. */
export async function untilSignedIn(signal: AbortSignal): Promise<void> {
  // Whether the session has ended is being asked for.
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

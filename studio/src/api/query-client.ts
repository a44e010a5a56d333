import { QueryCache, QueryClient } from '@tanstack/react-query';
import { ApiError, Unreachable } from './client.ts';
import { sessionQuery } from './session.ts';

/** Attempts after the first when the server does not answer or is busy. */
const MAX_RETRIES = 2;

/** Before the first of them, ms; twice as long before each other. */
const RETRY_MS = 400;

/** A refusal stays one; a server that is away may come back. */
function isTemporary(error: unknown): boolean {
  return !(error instanceof ApiError) || error.status >= 500;
}

/** No answer of the server itself: what a proxy says in its place, or nothing. */
function isAway(error: unknown): boolean {
  return (
    error instanceof Unreachable || (error instanceof ApiError && [502, 503, 504].includes(error.status))
  );
}

export const queryClient: QueryClient = new QueryClient({
  queryCache: new QueryCache({
    onError(error, query) {
      // The session has ended elsewhere: by time, or because its key was revoked.
      if (error instanceof ApiError && error.status === 401 && query.queryKey[0] !== 'session')
        void queryClient.invalidateQueries({ queryKey: sessionQuery.queryKey });
      // What was read stays on the page while the server is away, which the page says once.
      if (isAway(error) && query.state.data !== undefined) query.setState({ status: 'success', error: null });
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

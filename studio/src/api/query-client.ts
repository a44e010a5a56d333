import { QueryCache, QueryClient } from '@tanstack/react-query';
import { ApiError } from './client.ts';
import { sessionQuery } from './session.ts';

/** Attempts after the first when the server does not answer or is busy. */
const MAX_RETRIES = 2;

/** A refusal stays one; a server that is away may come back. */
function isTemporary(error: unknown): boolean {
  return !(error instanceof ApiError) || error.status >= 500;
}

export const queryClient: QueryClient = new QueryClient({
  queryCache: new QueryCache({
    onError(error, { queryKey }) {
      // The session has ended elsewhere: by time, or because its key was revoked.
      if (error instanceof ApiError && error.status === 401 && queryKey[0] !== 'session')
        void queryClient.invalidateQueries({ queryKey: sessionQuery.queryKey });
    },
  }),
  defaultOptions: {
    // The server may run on a machine without any network.
    queries: {
      networkMode: 'always',
      staleTime: 5_000,
      retry: (failures, error) => failures < MAX_RETRIES && isTemporary(error),
    },
    mutations: { networkMode: 'always' },
  },
});

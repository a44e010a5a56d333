import { useEffect, useState } from 'react';

/** Of an infinite query, what its next page needs. */
interface Pages {
  readonly data: { readonly pages: readonly unknown[] } | undefined;
  readonly error: unknown;
  readonly hasNextPage: boolean;
  readonly isFetching: boolean;
  readonly fetchNextPage: () => Promise<unknown>;
}

/**
 * Loads the next page of a list when `loadMore` is called. A change by another client loads the pages that are there anew and
 * so cancels the next one, which is then asked for again.
 */
export function useMore({ data, error, hasNextPage, isFetching, fetchNextPage }: Pages) {
  const [wanted, setWanted] = useState(1);
  const loaded = data?.pages.length ?? 0;
  const isLoading = loaded > 0 && loaded < wanted && hasNextPage;
  useEffect(() => {
    if (isLoading && !isFetching && error === null) void fetchNextPage();
  }, [isLoading, isFetching, error, fetchNextPage]);
  return { isLoading, loadMore: () => setWanted(loaded + 1) };
}

import { useEffect, useState } from 'react';

/** Of an infinite query, what its next page needs. */
interface Pages {
  readonly data: { readonly pages: readonly unknown[] } | undefined;
  readonly error: unknown;
  readonly hasNextPage: boolean;
  readonly isFetching: boolean;
  readonly isFetchingNextPage: boolean;
  readonly fetchNextPage: () => Promise<unknown>;
  readonly refetch: (options: { cancelRefetch: boolean }) => Promise<unknown>;
}

/**
 * Loads the next page of a list when `loadMore` is called. It comes before the pages that are being loaded anew for a change by
 * another client, of which there may be one after the other; these follow it. What cancels the next page makes it asked for again.
 */
export function useMore(pages: Pages) {
  const { data, error, hasNextPage, isFetching, isFetchingNextPage, fetchNextPage, refetch } = pages;
  const [wanted, setWanted] = useState(1);
  const loaded = data?.pages.length ?? 0;
  const isLoading = loaded > 0 && loaded < wanted && hasNextPage;
  useEffect(() => {
    if (!isLoading || isFetchingNextPage || error !== null) return;
    const isInTheWay = isFetching;
    void fetchNextPage().then(() => isInTheWay && refetch({ cancelRefetch: false }));
  }, [isLoading, isFetching, isFetchingNextPage, error, fetchNextPage, refetch]);
  return { isLoading, loadMore: () => setWanted(loaded + 1) };
}

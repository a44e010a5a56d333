import { useEffect, useState } from 'react';

/** The parts of an infinite query that loading its next page needs. */
interface Pages {
  readonly data: { readonly pages: readonly unknown[] } | undefined;
  readonly error: unknown;
  readonly hasNextPage: boolean;
  readonly isFetching: boolean;
  readonly isFetchingNextPage: boolean;
  readonly fetchNextPage: () => Promise<unknown>;
  readonly refetch: (options: { cancelRefetch: boolean }) => Promise<unknown>;
}

/** What `NextPage` shows below the rows of a list. */
export interface More {
  readonly error: unknown;
  readonly hasNextPage: boolean;
  readonly isLoading: boolean;
  readonly loadMore: () => void;
  readonly retry: () => void;
}

/**
 * Loads the next page of a list when `loadMore` is called. The next page goes before a refetch of the loaded pages: other
 * clients may cause one refetch after another, and the reader would wait for all of them. A next page that is cancelled is
 * requested again, and one that failed after `retry`.
 */
export function useMore(pages: Pages): More {
  const { data, error, hasNextPage, isFetching, isFetchingNextPage, fetchNextPage, refetch } = pages;
  const [wanted, setWanted] = useState(1);
  const loaded = data?.pages.length ?? 0;
  const isLoading = loaded > 0 && loaded < wanted && hasNextPage;
  useEffect(() => {
    if (!isLoading || isFetchingNextPage || error !== null) return;
    const isInTheWay = isFetching;
    void fetchNextPage().then(() => isInTheWay && refetch({ cancelRefetch: false }));
  }, [isLoading, isFetching, isFetchingNextPage, error, fetchNextPage, refetch]);
  return {
    error,
    hasNextPage,
    isLoading,
    loadMore: () => setWanted(loaded + 1),
    retry: () => void refetch({ cancelRefetch: true }),
  };
}

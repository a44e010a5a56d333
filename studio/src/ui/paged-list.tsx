import type { InfiniteData, UseInfiniteQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { Button } from './button.tsx';
import { Empty, Failure, Loading } from './states.tsx';
import { useMore } from './use-more.ts';

/** A page of rows, alone or with the cursor of the next one. */
type PageOf<Row> = readonly Row[] | { readonly data: readonly Row[] };

interface PagedListProps<Row> {
  readonly query: UseInfiniteQueryResult<InfiniteData<PageOf<Row>>>;
  /** As in "Loading runs". */
  readonly what: string;
  /** Of the button that loads the next page. */
  readonly more: string;
  /** Instead of no rows. */
  readonly empty: ReactNode;
  readonly children: (rows: readonly Row[]) => ReactNode;
}

/** Rows that are loaded page by page, and what is shown while there are none. */
export function PagedList<Row>({ query, what, more, empty, children }: PagedListProps<Row>) {
  const { data, error, refetch, hasNextPage } = query;
  const { isLoading, loadMore } = useMore(query);
  if (error) return <Failure error={error} retry={() => void refetch()} />;
  if (!data) return <Loading what={what} />;
  const rows = data.pages.flatMap((page) => ('data' in page ? page.data : page));
  if (rows.length === 0) return hasNextPage ? <NoneSoFar {...{ more, isLoading, loadMore }} /> : empty;
  return (
    <>
      {children(rows)}
      {hasNextPage && (
        <Button className="self-center" disabled={isLoading} onClick={loadMore}>
          {more}
        </Button>
      )}
    </>
  );
}

interface NoneSoFarProps {
  /** Of the button that loads the next page. */
  readonly more: string;
  readonly isLoading: boolean;
  readonly loadMore: () => void;
}

/** Instead of rows, while pages are without one although more follow: the server examines a part of a long list at a time. */
export function NoneSoFar({ more, isLoading, loadMore }: NoneSoFarProps) {
  return (
    <>
      <Empty title="None found so far">Only a part of the list has been searched.</Empty>
      <Button className="self-center" disabled={isLoading} onClick={loadMore}>
        {more}
      </Button>
    </>
  );
}

interface EmptyListProps {
  readonly filters: object;
  /** Titles with a filter and without one. */
  readonly fits: string;
  readonly none: string;
  /** How the first row comes about. */
  readonly children: ReactNode;
}

/** A list without rows: its filters may be the reason. */
export function EmptyList({ filters, fits, none, children }: EmptyListProps) {
  const isFiltered = Object.values(filters).some(Boolean);
  return (
    <Empty title={isFiltered ? fits : none}>{isFiltered ? 'Remove a filter to see more.' : children}</Empty>
  );
}

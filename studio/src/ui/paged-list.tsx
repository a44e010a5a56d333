import type { InfiniteData, UseInfiniteQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { Button } from './button.tsx';
import { Empty, Failure, Loading } from './states.tsx';
import { type More, useMore } from './use-more.ts';

/** One page of rows, with or without the cursor of the next page. */
type PageOf<Row> = readonly Row[] | { readonly data: readonly Row[] };

interface PagedListProps<Row> {
  readonly query: UseInfiniteQueryResult<InfiniteData<PageOf<Row>>>;
  /** Completes "Loading …". */
  readonly what: string;
  /** Label of the button that loads the next page. */
  readonly more: string;
  /** Shown if the list has no rows. */
  readonly empty: ReactNode;
  readonly children: (rows: readonly Row[]) => ReactNode;
}

/** Rows loaded page by page, with their loading, empty and error states. */
export function PagedList<Row>({ query, what, more, empty, children }: PagedListProps<Row>) {
  const { data } = query;
  const next = useMore(query);
  if (!data) return next.error ? <Failure error={next.error} retry={next.retry} /> : <Loading what={what} />;
  const rows = data.pages.flatMap((page) => ('data' in page ? page.data : page));
  if (rows.length === 0) return next.hasNextPage ? <NoneSoFar more={more} next={next} /> : empty;
  return (
    <>
      {children(rows)}
      <NextPage more={more} next={next} />
    </>
  );
}

interface NextPageProps {
  /** Label of the button that loads the next page. */
  readonly more: string;
  readonly next: More;
  readonly className?: string;
}

/** Below the loaded rows: the button for the next page, or why loading failed. The rows stay in either case. */
export function NextPage({ more, next, className = 'self-center' }: NextPageProps) {
  const { error, hasNextPage, isLoading, loadMore, retry } = next;
  if (error) return <Failure error={error} retry={retry} />;
  if (!hasNextPage) return null;
  return (
    <Button className={className} disabled={isLoading} onClick={loadMore}>
      {more}
    </Button>
  );
}

/** Shown while the loaded pages are empty but more follow: the server scans a long list one part at a time. */
export function NoneSoFar({ more, next }: NextPageProps) {
  return (
    <>
      <Empty title="No matches so far">Only part of the list has been searched.</Empty>
      <NextPage more={more} next={next} />
    </>
  );
}

interface EmptyListProps {
  readonly filters: object;
  /** Title if filters are set. */
  readonly fits: string;
  /** Title if no filter is set. */
  readonly none: string;
  /** How to get the first row. */
  readonly children: ReactNode;
}

/** The empty state of a list whose filters may be the reason. */
export function EmptyList({ filters, fits, none, children }: EmptyListProps) {
  const isFiltered = Object.values(filters).some(Boolean);
  return (
    <Empty title={isFiltered ? fits : none}>{isFiltered ? 'Remove a filter to see more.' : children}</Empty>
  );
}

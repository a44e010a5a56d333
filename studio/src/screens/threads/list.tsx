import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { assistantName, assistantsQuery } from '../../api/assistants.ts';
import { Ago, byteSize, shortId } from '../../ui/format.tsx';
import { Card } from '../../ui/page.tsx';
import { NextPage, NoneSoFar } from '../../ui/paged-list.tsx';
import { StatusPill } from '../../ui/pill.tsx';
import { Empty, Failure, Loading } from '../../ui/states.tsx';
import { OPENS, Row } from '../../ui/table.tsx';
import { useMore } from '../../ui/use-more.ts';
import { SelectionBar } from './selection-bar.tsx';
import {
  firstMessagesQuery,
  sizesQuery,
  sortOf,
  type Thread,
  type ThreadFilters,
  type ThreadOrder,
  type ThreadSort,
  threadsQuery,
  titleOf,
} from './threads-query.ts';

/** Column names, with the sort key of sortable ones. */
const COLUMNS: readonly (readonly [name: string, sort?: ThreadSort])[] = [
  ['Thread'],
  ['Status'],
  ['Assistant'],
  ['Created', 'created_at'],
  ['Updated', 'updated_at'],
  ['Size'],
  ['Owner'],
];

const SHOW_MORE = 'Show older threads';

/** The threads that match the filters, page by page, and the actions for the selected ones. */
export function ThreadList({ filters, order }: { filters: ThreadFilters; order: ThreadOrder }) {
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  const list = useInfiniteQuery(threadsQuery(filters, order));
  const { data } = list;
  const next = useMore(list);
  if (!data)
    return next.error ? <Failure error={next.error} retry={next.retry} /> : <Loading what="threads" />;
  const pages = withoutRepeats(data.pages.map((page) => page.data));
  const threads = pages.flat();
  const hasOwner = threads.some(({ metadata }) => 'owner' in metadata);
  // Drops deleted threads from the selection.
  const ids = threads.map(({ thread_id }) => thread_id).filter((id) => selected.has(id));
  if (threads.length === 0) {
    return next.hasNextPage ? (
      <NoneSoFar more={SHOW_MORE} next={next} />
    ) : (
      <NoThreads isFiltered={Object.values(filters).some(Boolean)} />
    );
  }
  return (
    <>
      <SelectionBar ids={ids} clear={() => setSelected(new Set())} />
      <Card className="flex-none overflow-x-auto">
        <table className="w-full text-left">
          <thead className="text-xs text-ink-3">
            <tr className="border-b border-line">
              <th scope="col" className="w-8 py-2 pl-3 font-normal">
                <input
                  type="checkbox"
                  aria-label="Select all shown threads"
                  className="align-middle accent-accent"
                  checked={ids.length === threads.length}
                  onChange={({ target: { checked } }) =>
                    setSelected(new Set(checked ? threads.map(({ thread_id }) => thread_id) : []))
                  }
                />
              </th>
              <Headings order={order} hasOwner={hasOwner} />
            </tr>
          </thead>
          {pages.map((page) => (
            <Rows
              key={page[0]?.thread_id}
              threads={page}
              hasOwner={hasOwner}
              selected={selected}
              select={(id, isOn) =>
                setSelected(
                  (before) => new Set(isOn ? [...before, id] : [...before].filter((it) => it !== id)),
                )
              }
            />
          ))}
        </table>
      </Card>
      <NextPage more={SHOW_MORE} next={next} />
    </>
  );
}

function Headings({ order, hasOwner }: { order: ThreadOrder; hasOwner: boolean }) {
  const columns = hasOwner ? COLUMNS : COLUMNS.filter(([name]) => name !== 'Owner');
  return columns.map(([name, sort]) =>
    sort ? (
      <SortHeading key={name} name={name} sort={sort} order={order} />
    ) : (
      <th key={name} scope="col" className={`px-3 py-2 font-normal ${name === 'Size' ? 'text-right' : ''}`}>
        {name}
      </th>
    ),
  );
}

/** Sorts by its column, newest first. A second click reverses the order. */
function SortHeading({ name, sort, order }: { name: string; sort: ThreadSort; order: ThreadOrder }) {
  const navigate = useNavigate({ from: '/threads' });
  const isSorted = sortOf(order) === sort;
  const isOldestFirst = order.order === 'asc';
  const next = isSorted && !isOldestFirst ? { sort, order: 'asc' } : { sort, order: 'desc' };
  return (
    <th
      scope="col"
      aria-sort={isSorted ? (isOldestFirst ? 'ascending' : 'descending') : 'none'}
      className="px-3 py-2 font-normal whitespace-nowrap"
    >
      <button
        type="button"
        className={`hover:text-ink ${isSorted ? 'font-medium text-ink' : ''}`}
        onClick={() => void navigate({ search: (before) => ({ ...before, ...next }), replace: true })}
      >
        {name}
        {isSorted && <span aria-hidden="true">{isOldestFirst ? ' ↑' : ' ↓'}</span>}
      </button>
    </th>
  );
}

/** A thread that changes between page loads moves to the first page and shifts others to the next, so pages can overlap. */
function withoutRepeats(pages: readonly (readonly Thread[])[]): Thread[][] {
  const seen = new Set<string>();
  return pages.map((page) =>
    page.filter(({ thread_id }) => {
      const isNew = !seen.has(thread_id);
      seen.add(thread_id);
      return isNew;
    }),
  );
}

function NoThreads({ isFiltered }: { isFiltered: boolean }) {
  return (
    <Empty title={isFiltered ? 'No matching threads' : 'No threads yet'}>
      {isFiltered
        ? 'Remove a filter to see more. Titles, metadata and values must match exactly.'
        : 'Start a chat, or create a thread with any client.'}
    </Empty>
  );
}

interface RowsProps {
  readonly threads: readonly Thread[];
  /** A thread of the list has an owner. */
  readonly hasOwner: boolean;
  readonly selected: ReadonlySet<string>;
  readonly select: (id: string, isOn: boolean) => void;
}

/** The rows of one page. */
function Rows({ threads, hasOwner, selected, select }: RowsProps) {
  const untitled = threads.filter((thread) => !titleOf(thread)).map(({ thread_id }) => thread_id);
  const { data: firstMessages } = useQuery(firstMessagesQuery(untitled));
  const { data: sizes } = useQuery(sizesQuery(threads.map(({ thread_id }) => thread_id)));
  return (
    <tbody className="border-b border-line last:border-0">
      {threads.map((thread) => {
        const id = thread.thread_id;
        const name = titleOf(thread) ?? firstMessages?.get(id);
        return (
          <ThreadRow
            key={id}
            thread={thread}
            name={name}
            bytes={sizes?.get(id)}
            hasOwner={hasOwner}
            isSelected={selected.has(id)}
            select={(isOn) => select(id, isOn)}
          />
        );
      })}
    </tbody>
  );
}

interface RowProps {
  readonly thread: Thread;
  readonly name: string | undefined;
  /** Size of its history. Undefined until loaded. */
  readonly bytes: number | undefined;
  readonly hasOwner: boolean;
  readonly isSelected: boolean;
  readonly select: (isOn: boolean) => void;
}

function ThreadRow({ thread, name, bytes, hasOwner, isSelected, select }: RowProps) {
  const { data: assistants = [] } = useQuery(assistantsQuery);
  const { thread_id, status, created_at, updated_at } = thread;
  const { assistant_id, graph_id, owner } = thread.metadata as Readonly<Record<string, unknown>>;
  const assistant = assistants.find((each) => each.assistant_id === assistant_id);
  return (
    <Row>
      <td className="py-1.5 pl-3">
        <input
          type="checkbox"
          aria-label={`Select ${name ?? thread_id}`}
          className="align-middle accent-accent"
          checked={isSelected}
          onChange={({ target }) => select(target.checked)}
        />
      </td>
      <td className="max-w-[48ch] min-w-[180px] truncate px-3 py-1.5">
        <Link
          {...OPENS}
          to="/threads/$threadId"
          params={{ threadId: thread_id }}
          className="hover:text-accent"
        >
          {name && <bdi className="mr-1.5 font-medium">{name}</bdi>}
          <span className={`font-mono text-xs ${name ? 'text-ink-3' : ''}`}>
            {name ? shortId(thread_id) : thread_id}
          </span>
        </Link>
      </td>
      <td className="px-3 py-1.5">
        <StatusPill status={status} />
      </td>
      <td className="px-3 py-1.5 whitespace-nowrap text-ink-2">
        {assistant ? assistantName(assistant) : String(graph_id ?? '')}
      </td>
      <td className="px-3 py-1.5 text-ink-2">
        <Ago at={created_at} />
      </td>
      <td className="px-3 py-1.5 text-ink-2">
        <Ago at={updated_at} />
      </td>
      <td className="px-3 py-1.5 text-right whitespace-nowrap text-ink-2">
        {bytes === undefined ? '' : byteSize(bytes)}
      </td>
      {hasOwner && <td className="max-w-[24ch] truncate px-3 py-1.5 text-ink-2">{String(owner ?? '')}</td>}
    </Row>
  );
}

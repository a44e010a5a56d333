import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { assistantName, assistantsQuery } from '../../api/assistants.ts';
import { useColumnWidths } from '../../ui/column-widths.tsx';
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

/** The column of the boxes. */
const CHOSEN = 'Chosen';

const SHOW_MORE = 'Show older threads';

/** The threads that match the filters, page by page, and the actions for the selected ones. */
export function ThreadList({ filters, order }: { filters: ThreadFilters; order: ThreadOrder }) {
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  const list = useInfiniteQuery(threadsQuery(filters, order));
  const { data } = list;
  const next = useMore(list);
  const pages = withoutRepeats((data?.pages ?? []).map((page) => page.data));
  const threads = pages.flat();
  const hasOwner = threads.some(({ metadata }) => 'owner' in metadata);
  const columns = hasOwner ? COLUMNS : COLUMNS.filter(([name]) => name !== 'Owner');
  const widths = useColumnWidths('Threads', [CHOSEN, ...columns.map(([name]) => name)]);
  if (!data)
    return next.error ? <Failure error={next.error} retry={next.retry} /> : <Loading what="threads" />;
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
      <Card role="group" aria-label="Threads" tabIndex={0} className="relative flex-none overflow-x-auto">
        <table className={`text-left ${widths.className}`} style={widths.style}>
          {widths.columns}
          <thead className="text-xs text-ink-3">
            <tr className="border-b border-line">
              <th scope="col" data-column={CHOSEN} className="w-8 py-2 pl-3 font-normal">
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
              <Headings columns={columns} order={order} handle={widths.handle} />
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

interface HeadingsProps {
  readonly columns: typeof COLUMNS;
  readonly order: ThreadOrder;
  readonly handle: (name: string) => ReactNode;
}

function Headings({ columns, order, handle }: HeadingsProps) {
  return columns.map(([name, sort]) => {
    const isSorted = sort !== undefined && sortOf(order) === sort;
    const direction = isSorted ? (order.order === 'asc' ? 'ascending' : 'descending') : 'none';
    return (
      <th
        key={name}
        scope="col"
        data-column={name}
        aria-sort={sort && direction}
        className={`relative px-3 py-2 font-normal whitespace-nowrap ${name === 'Size' ? 'text-right' : ''}`}
      >
        {sort ? <SortButton name={name} sort={sort} direction={direction} /> : name}
        {handle(name)}
      </th>
    );
  });
}

interface SortButtonProps {
  readonly name: string;
  readonly sort: ThreadSort;
  readonly direction: 'ascending' | 'descending' | 'none';
}

/** Sorts by its column, newest first. A second click reverses the order. */
function SortButton({ name, sort, direction }: SortButtonProps) {
  const navigate = useNavigate({ from: '/threads' });
  const next = { sort, order: direction === 'descending' ? 'asc' : 'desc' };
  const isSorted = direction !== 'none';
  return (
    <button
      type="button"
      className={`hover:text-ink ${isSorted ? 'font-medium text-ink' : ''}`}
      onClick={() => void navigate({ search: (before) => ({ ...before, ...next }), replace: true })}
    >
      {name}
      {isSorted && <span aria-hidden="true">{direction === 'ascending' ? ' ↑' : ' ↓'}</span>}
    </button>
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
      <td className="max-w-[42vw] truncate sm:max-w-[48ch] sm:min-w-[180px] px-3 py-1.5">
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

import { nullable, number, text } from '../../db/columns.ts';
import type { Reader } from '../../db/db.ts';
import type { Cipher } from '../../db/encryption/cipher.ts';
import { isOneOf } from '../../db/json.ts';
import { lateralJoin } from '../../db/lateral-join.ts';
import { combineFilters, matchesEverything, metadataMatches } from '../../db/metadata-filter.ts';
import { type DialectSql, defined, raw, type Sql, sql } from '../../db/sql.ts';
import type { Thread, ThreadFilter, ThreadSearch, ThreadStatus } from '../../schemas/threads.ts';
import { VISIBLE_THREADS, type Visibility, visible } from '../access/visibility.ts';
import type { SortKey, TableFilter, TablePage } from '../search/access-path.ts';
import { boundedRows } from '../search/list-bytes.ts';
import { countRows, findIds } from '../search/table-search.ts';
import { partColumns, partValues, takeParts, type ValuePath } from './extract.ts';
import { IN_FLIGHT, largeOfThread, STATUS, selectThreads, threadOf } from './row.ts';
import { withSizes } from './size.ts';
import { largeOfValues, summaryFilter, valuesContain } from './values-summary.ts';

type Filter = ThreadFilter & Pick<ThreadSearch, 'ids'>;

export interface ThreadQuery extends ThreadSearch {
  /** Parts of the values to read, by name. */
  readonly parts?: Readonly<Record<string, ValuePath>> | undefined;
  /** Reads of each thread where it is in the order. Not of an order by status. */
  readonly has_keys?: boolean;
  /** Only threads after this one. */
  readonly after?: SortKey | undefined;
}

/** With the requested parts; null where a path leads to nothing. */
export type FoundThread = Thread & { readonly parts?: Record<string, unknown>; readonly key?: SortKey };

export async function searchThreads(
  reader: Reader,
  query: ThreadQuery,
  visibility?: Visibility,
  max_bytes?: number,
): Promise<FoundThread[]> {
  const ids =
    query.sort_by === 'status'
      ? await idsByStatus(reader, query, visibility)
      : await findIds(reader, pageOf(reader.cipher, query, visibility, query.sort_by));
  const found = await load(reader, ids, query, { visibility, max_bytes });
  return query.select?.includes('total_bytes') ? withSizes(reader, found) : found;
}

export function countThreads(reader: Reader, filter: ThreadFilter, visibility?: Visibility): Promise<number> {
  const wanted = filterOf(reader.cipher, filter, visibility);
  const { status } = filter;
  if (status && status !== 'busy' && wanted.where.length === 1) return countOfStatus(reader, status);
  return countRows(reader, wanted);
}

/**
 * In the order of `ids`, without threads that were deleted or became invisible in the meantime. Throws `InvalidInput` if
 * they are too large for one reply.
 */
async function load(
  reader: Reader,
  ids: readonly string[],
  { select, parts = {}, has_keys, sort_by }: ThreadQuery,
  { visibility, max_bytes }: { visibility: Visibility | undefined; max_bytes: number | undefined },
): Promise<FoundThread[]> {
  const paths = Object.values(parts);
  const extra = sql`${partColumns(reader.cipher, paths)}, ${sortText(has_keys ? sort_by : undefined)}`;
  const { large, from } = largeOfThread(paths.length > 0 ? undefined : select);
  const threads = await boundedRows(reader, {
    what: 'threads',
    or: 'select other fields',
    ids,
    id: 'threads.thread_id',
    select: (condition) => sql`${selectThreads(select, extra)} where ${condition}`,
    from,
    where: [visible(VISIBLE_THREADS, visibility)],
    // The parts are smaller than the states, and only measured where these are too large.
    large,
    exactly:
      paths.length > 0 ? [...largeOfThread(select).large, ...partValues(reader.cipher, paths)] : undefined,
    max_bytes,
    read: ({ sort_text, ...row }) => ({
      ...takeParts(reader.cipher, row, parts),
      ...threadOf(reader.cipher, row),
      ...(sort_text !== null && { key: { sort: sort_text, id: row.thread_id } }),
    }),
  });
  const byId = new Map(threads.map((thread) => [thread.thread_id, thread]));
  return ids.flatMap((id) => byId.get(id) ?? []);
}

/** What a thread is sorted by, as exactly as it is stored: PostgreSQL has microseconds. Null of no column. */
function sortText(sort_by: ThreadSearch['sort_by'] | undefined) {
  const name = nullable(text('sort_text'));
  if (sort_by === undefined || sort_by === 'status') return sql`null as ${name}`;
  const column = raw(`threads.${sort_by}`);
  const exact: DialectSql = {
    sqlite: column,
    postgres:
      sort_by === 'thread_id'
        ? sql`${column}::text`
        : sql`to_char(${column} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`,
  };
  return sql`${exact} as ${name}`;
}

const STATUSES: readonly ThreadStatus[] = ['busy', 'error', 'idle', 'interrupted'];

/** No index has the order of statuses, but there are only four: one after the other, each by id. */
async function idsByStatus(
  reader: Reader,
  query: ThreadSearch,
  visibility: Visibility | undefined,
): Promise<string[]> {
  const inOrder = query.sort_order === 'asc' ? STATUSES : STATUSES.toReversed();
  const statuses = inOrder.filter((status) => query.status === undefined || status === query.status);
  const found: string[] = [];
  let { offset } = query;
  for (const status of statuses) {
    const skipped =
      offset === 0 ? 0 : Math.min(offset, await countThreads(reader, { ...query, status }, visibility));
    const limit = query.limit - found.length;
    const page = pageOf(reader.cipher, { ...query, status, limit, offset }, visibility, 'thread_id');
    offset -= skipped;
    if (offset === 0) found.push(...(await findIds(reader, page)));
    if (found.length === query.limit) break;
  }
  return found;
}

function pageOf(
  cipher: Cipher,
  query: ThreadQuery,
  visibility: Visibility | undefined,
  sort: Exclude<ThreadSearch['sort_by'], 'status'>,
): TablePage {
  return {
    ...filterOf(cipher, query, visibility),
    id: 'threads.thread_id',
    sort: raw(`threads.${sort}`),
    order: query.sort_order,
    limit: query.limit,
    offset: query.offset,
    after: query.after,
  };
}

function filterOf(
  cipher: Cipher,
  { ids, metadata, values, title, status }: Filter,
  visibility: Visibility | undefined,
): TableFilter {
  const wanted = combineFilters(metadata && { contains: metadata }, visibility?.metadata);
  const some = ids && ids.length > 0 ? ids : undefined;
  return {
    table: 'threads',
    contained: [
      { column: 'metadata', filter: wanted },
      ...(values ? [{ column: 'values_summary', filter: summaryFilter(cipher, values) } as const] : []),
    ],
    where: defined([
      some && isOneOfUnindexed(some),
      visibility?.ids && isOneOfUnindexed(visibility.ids),
      status && hasStatus(status),
      matchesEverything(wanted) ? undefined : metadataMatches('threads.metadata', wanted),
      values && Object.keys(values).length > 0 ? valuesContain(cipher, values) : undefined,
      ...wordsOf(title).map(titleContains),
    ]),
    large: [
      ...(matchesEverything(wanted) && title === undefined ? [] : [raw('threads.metadata')]),
      ...(values ? largeOfValues(cipher) : []),
    ],
    row_id_queries: defined([
      some && isOneOf('threads.thread_id', some),
      visibility?.ids && isOneOf('threads.thread_id', visibility.ids),
      status && hasStoredStatus(status),
    ]).map((condition) => sql`select row_id from threads where ${condition}`),
  };
}

function wordsOf(title = ''): string[] {
  return title.split(/\s+/).filter((word) => word !== '');
}

/** Characters of a title that a search reads: matching a pattern takes the product of both lengths. */
const SEARCHED_TITLE = 1000;

/** Reads the metadata of every thread that the other conditions leave: in the order of the page, until that is full. */
function titleContains(word: string): DialectSql {
  const pattern = `%${word.replace(/[\\%_]/g, '\\$&')}%`;
  return {
    sqlite: sql`substr(json_extract(threads.metadata, '$.title'), 1, ${SEARCHED_TITLE}) like ${pattern} escape '\\'`,
    postgres: sql`left(threads.metadata ->> 'title', ${SEARCHED_TITLE}::int) ilike ${pattern} escape '\\'`,
  };
}

/** Hides the index from SQLite's planner, as `hasStatus` does: it would use it where another is better. */
function isOneOfUnindexed(ids: readonly string[]): DialectSql {
  return { sqlite: isOneOf('+threads.thread_id', ids), postgres: isOneOf('threads.thread_id', ids) };
}

function hasStatus(status: ThreadStatus): DialectSql {
  return {
    sqlite: sql`${STATUS} = ${status}`,
    postgres: status === 'busy' ? QUEUED : sql`(threads.status = ${status} and not ${IN_FLIGHT})`,
  };
}

const QUEUED = sql`threads.thread_id in (select thread_id from run_queue)`;

/** The part of a status condition that an index covers. */
function hasStoredStatus(status: ThreadStatus): Sql {
  return status === 'busy' ? QUEUED : sql`threads.status = ${status}`;
}

/** Index-only count: threads with the stored status, minus those that are busy. */
async function countOfStatus(reader: Reader, status: ThreadStatus): Promise<number> {
  const ofQueued = sql`t.thread_id = queued.thread_id and t.status = ${status}`;
  const row = await reader.get(sql`select
    (select count(*) from threads where ${hasStoredStatus(status)}) - (select count(*)
      from (select distinct thread_id from run_queue) queued ${lateralJoin('threads', 't', ofQueued)}
    ) as ${number('count')}`);
  return row?.count ?? 0;
}

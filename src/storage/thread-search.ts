import type { Thread, ThreadFilter, ThreadSearch, ThreadStatus } from '../schemas/threads.ts';
import type { Reader } from './db.ts';
import { contains, isOneOf } from './json.ts';
import { lookUp } from './look-up.ts';
import { asksForNothing, everyFilter, metadataMatches } from './metadata-filter.ts';
import { countRows } from './search/count.ts';
import { findIds } from './search/find.ts';
import type { TableFilter, TablePage } from './search/table-search.ts';
import { type DialectSql, raw, type Sql, sql } from './sql.ts';
import { IN_FLIGHT, STATUS, selectThreads, type ThreadRow, threadOf } from './thread-row.ts';
import type { Visibility } from './visibility.ts';

type Filter = ThreadFilter & Pick<ThreadSearch, 'ids'>;

/** Of what is `visible` to the caller; undefined: all. */
export async function searchThreads(
  reader: Reader,
  query: ThreadSearch,
  visible?: Visibility,
): Promise<Thread[]> {
  const ids =
    query.sort_by === 'status'
      ? await idsByStatus(reader, query, visible)
      : await findIds(reader, pageOf(query, visible, query.sort_by));
  return load(reader, ids, query.select);
}

export function countThreads(reader: Reader, filter: ThreadFilter, visible?: Visibility): Promise<number> {
  const wanted = filterOf(filter, visible);
  const { status } = filter;
  if (status && status !== 'busy' && wanted.where.length === 1) return countOfStatus(reader, status);
  return countRows(reader, wanted);
}

/** In the order of `ids`; without those that have gone in the meantime. */
async function load(
  reader: Reader,
  ids: readonly string[],
  select: ThreadSearch['select'],
): Promise<Thread[]> {
  if (ids.length === 0) return [];
  const rows = await reader.all<ThreadRow>(
    sql`${selectThreads(select)} where ${isOneOf('threads.thread_id', ids)}`,
  );
  const byId = new Map(rows.map((row) => [row.thread_id, row]));
  return ids.flatMap((id) => byId.get(id) ?? []).map(threadOf);
}

/** A status is not in the order of any index, but there are only four: one after the other, by id. */
async function idsByStatus(
  reader: Reader,
  query: ThreadSearch,
  visible: Visibility | undefined,
): Promise<string[]> {
  const all: ThreadStatus[] = ['busy', 'error', 'idle', 'interrupted'];
  const statuses = query.status ? [query.status] : query.sort_order === 'asc' ? all : all.toReversed();
  const found: string[] = [];
  let { offset } = query;
  for (const status of statuses) {
    const skipped =
      offset === 0 ? 0 : Math.min(offset, await countThreads(reader, { ...query, status }, visible));
    const limit = query.limit - found.length;
    const page = pageOf({ ...query, status, limit, offset }, visible, 'thread_id');
    offset -= skipped;
    if (offset === 0) found.push(...(await findIds(reader, page)));
    if (found.length === query.limit) break;
  }
  return found;
}

function pageOf(
  query: ThreadSearch,
  visible: Visibility | undefined,
  sort: Exclude<ThreadSearch['sort_by'], 'status'>,
): TablePage {
  return {
    ...filterOf(query, visible),
    id: 'threads.thread_id',
    sort: raw(`threads.${sort}`),
    order: query.sort_order,
    limit: query.limit,
    offset: query.offset,
  };
}

function filterOf({ ids, metadata, values, status }: Filter, visible: Visibility | undefined): TableFilter {
  const wanted = everyFilter(metadata && { contains: metadata }, visible?.metadata);
  const some = ids && ids.length > 0 ? ids : undefined;
  return {
    table: 'threads',
    metadata: wanted,
    where: present([
      some && isOneOfThese(some),
      visible?.ids && isOneOfThese(visible.ids),
      status && is(status),
      asksForNothing(wanted) ? undefined : metadataMatches('threads.metadata', wanted),
      values && hasValues(values),
    ]),
    narrowing: present([
      some && isOneOf('threads.thread_id', some),
      visible?.ids && isOneOf('threads.thread_id', visible.ids),
      status && stored(status),
    ]).map((condition) => sql`select row_id from threads where ${condition}`),
  };
}

function present<T>(conditions: readonly (T | undefined)[]): T[] {
  return conditions.filter((condition) => condition !== undefined);
}

/** On SQLite in words in which no index is seen, as is the next: it would take one where another is better. */
function isOneOfThese(ids: readonly string[]): DialectSql {
  return { sqlite: isOneOf('+threads.thread_id', ids), postgres: isOneOf('threads.thread_id', ids) };
}

function is(status: ThreadStatus): DialectSql {
  return {
    sqlite: sql`${STATUS} = ${status}`,
    postgres: status === 'busy' ? QUEUED : sql`(threads.status = ${status} and not ${IN_FLIGHT})`,
  };
}

const QUEUED = sql`threads.thread_id in (select thread_id from run_queue)`;

/** What an index knows of a status. */
function stored(status: ThreadStatus): Sql {
  return status === 'busy' ? QUEUED : sql`threads.status = ${status}`;
}

/** From the index alone: those that it has, without those that are busy. */
async function countOfStatus(reader: Reader, status: ThreadStatus): Promise<number> {
  const ofQueued = sql`t.thread_id = queued.thread_id and t.status = ${status}`;
  const row = await reader.get<{ count: number }>(sql`select
    (select count(*) from threads where ${stored(status)}) - (select count(*)
      from (select distinct thread_id from run_queue) queued ${lookUp('threads', 't', ofQueued)}) as count`);
  return row?.count ?? 0;
}

/** `{}` asks for nothing: a thread that never ran has it too. */
function hasValues(wanted: Record<string, unknown>): Sql | undefined {
  if (Object.keys(wanted).length === 0) return undefined;
  return sql`exists (select 1 from thread_values
    where thread_values.thread_id = threads.thread_id and ${contains('thread_values.value', wanted)})`;
}

import type { JsonObject } from '../../core/json.ts';
import type { Reader } from '../../db/db.ts';
import { contains, isOneOf } from '../../db/json.ts';
import { combineFilters, matchesEverything } from '../../db/metadata-filter.ts';
import { and, type DialectSql, defined, list, raw, type Sql, sql } from '../../db/sql.ts';
import type { RunStatus } from '../../schemas/runs.ts';
import { threadVisible, type Visibility } from '../access/visibility.ts';
import { type IndexFilter, mostSelectivePath } from '../search/access-path.ts';
import { boundedCount, EXAMINED_ROWS, type KeysetList } from '../search/keyset-page.ts';
import { timeRange } from '../search/time-range.ts';
import { IS_WAITING, OF_WAITING_THREADS, WAITS } from './waiting.ts';

/** Conditions on runs; all must hold. */
export interface RunConditions {
  readonly statuses?: readonly RunStatus[] | undefined;
  readonly assistant_id?: string | undefined;
  /** Runs of assistants that have this graph now. */
  readonly graph_id?: string | undefined;
  /** The thread waits for a person where the run stopped. */
  readonly waiting?: boolean | undefined;
  readonly thread_id?: string | undefined;
  /** Containment filters on the thread's metadata, and on the run's own. */
  readonly thread_metadata?: JsonObject | undefined;
  readonly metadata?: JsonObject | undefined;
  /** Part of `Class: message`, whatever its case. Not possible if errors are encrypted. */
  readonly error?: string | undefined;
  /** ISO-8601; inclusive and exclusive. */
  readonly created_from?: string | undefined;
  readonly created_to?: string | undefined;
  readonly ended_from?: string | undefined;
  readonly ended_to?: string | undefined;
}

/** In the queue. */
export const QUEUED_STATUSES: readonly RunStatus[] = ['pending', 'running'];
export const FAILED_STATUSES: readonly RunStatus[] = ['error', 'timeout', 'interrupted'];
/** Literally the condition of the index `runs_failed_created`, which planners recognize it by. */
export const FAILED = raw(`runs.status in ('error', 'timeout', 'interrupted')`);

/** Up to this many runs are read and sorted; more are scanned in order. */
const SORT_UP_TO = 2000;

/** Reading the error of a run costs some µs: its row is not near those of other failed ones. */
const EXAMINED_ERRORS = 1500;

export interface RunList extends KeysetList {
  readonly index: RunIndex;
  /** The conditions without those on the thread. */
  readonly own: readonly (Sql | DialectSql)[];
  /** Threads of the runs; `undefined` if every thread will do. */
  readonly threads: Visibility | undefined;
}

/** The runs that satisfy the conditions, newest first, with the best index for them on SQLite. */
export async function runList(
  reader: Reader,
  conditions: RunConditions,
  visibility: Visibility | undefined,
): Promise<RunList> {
  const threads = threadsOf(conditions, visibility);
  const { index, covered } = indexFor(conditions);
  const indexed = [...covered, ...createdWithin(conditions)];
  const rest = defined(ownConditions(conditions, index));
  const where = [...rest, ...defined([threadVisible('runs.thread_id', threads)])];
  const mayBeFew = reader.dialect === 'sqlite' && where.length > 0;
  return {
    at: 'runs.created_at',
    id: 'runs.run_id',
    order: 'desc',
    scanned: { sqlite: raw(`runs indexed by ${index}`), postgres: raw('runs') },
    indexed,
    where,
    large: [
      ...(hasMembers(conditions.metadata) ? [raw('runs.metadata')] : []),
      ...(threads?.metadata ? [METADATA_OF_THREAD] : []),
    ],
    few: mayBeFew ? await fewRuns(reader, conditions, threads) : undefined,
    // Then the few are found by their threads, and `runs_thread` has their times.
    has_indexed_times: rest.length === 0 && index === 'runs_created',
    examined_rows: conditions.error === undefined ? EXAMINED_ROWS : EXAMINED_ERRORS,
    index,
    own: [...indexed, ...rest],
    threads,
  };
}

/**
 * The removed runs that satisfy the conditions, as a list of the same order; `undefined` if none can: they have no metadata,
 * and no thread that could wait.
 */
export function removedRunList(conditions: RunConditions): KeysetList | undefined {
  const { metadata, thread_metadata, waiting, ...own } = conditions;
  if (waiting || hasMembers(metadata) || hasMembers(thread_metadata)) return undefined;
  return {
    at: 'runs.created_at',
    id: 'runs.run_id',
    order: 'desc',
    scanned: {
      sqlite: raw('removed_runs as runs indexed by removed_runs_created'),
      postgres: raw('removed_runs as runs'),
    },
    indexed: createdWithin(own),
    where: defined(ownConditions(own, 'runs_created')),
    large: [],
    examined_rows: own.error === undefined ? EXAMINED_ROWS : EXAMINED_ERRORS,
  };
}

function threadsOf(
  { thread_metadata }: RunConditions,
  visibility: Visibility | undefined,
): Visibility | undefined {
  const metadata = combineFilters(thread_metadata && { contains: thread_metadata }, visibility?.metadata);
  if (matchesEverything(metadata)) return visibility?.ids && { ids: visibility.ids };
  return { metadata, ids: visibility?.ids };
}

type RunIndex = 'runs_failed_created' | 'runs_assistant_created' | 'runs_created';

function indexFor({ statuses, assistant_id }: RunConditions): { index: RunIndex; covered: Sql[] } {
  if (statuses?.every((status) => FAILED_STATUSES.includes(status)))
    return { index: 'runs_failed_created', covered: [FAILED, sql`runs.status in ${list(statuses)}`] };
  if (assistant_id !== undefined)
    return { index: 'runs_assistant_created', covered: [sql`runs.assistant_id = ${assistant_id}`] };
  return { index: 'runs_created', covered: [] };
}

const endedWithin = ({ ended_from, ended_to }: RunConditions): Sql[] =>
  timeRange(raw('runs.ended_at'), ended_from, ended_to);

const createdWithin = ({ created_from, created_to }: RunConditions): Sql[] =>
  timeRange(raw('runs.created_at'), created_from, created_to);

/** Conditions on the run's own row that the index leaves open. */
function ownConditions(
  { statuses, assistant_id, graph_id, waiting, thread_id, metadata, error, ...times }: RunConditions,
  index: RunIndex,
): (Sql | DialectSql | undefined)[] {
  const isQueued = statuses?.every((status) => QUEUED_STATUSES.includes(status));
  return [
    isQueued ? raw('runs.run_id in (select run_id from run_queue)') : undefined,
    statuses && index !== 'runs_failed_created' ? sql`runs.status in ${list(statuses)}` : undefined,
    assistant_id !== undefined && index !== 'runs_assistant_created'
      ? sql`runs.assistant_id = ${assistant_id}`
      : undefined,
    graph_id === undefined
      ? undefined
      : sql`runs.assistant_id in (select assistant_id from assistants where graph_id = ${graph_id})`,
    waiting === undefined ? undefined : waiting ? WAITS : sql`not ${IS_WAITING}`,
    thread_id === undefined ? undefined : sql`runs.thread_id = ${thread_id}`,
    hasMembers(metadata) ? contains('runs.metadata', metadata) : undefined,
    error === undefined ? undefined : errorContains(error),
    ...endedWithin(times),
  ];
}

function hasMembers(filter: JsonObject | undefined): filter is JsonObject {
  return filter !== undefined && Object.keys(filter).length > 0;
}

const METADATA_OF_THREAD = raw('(select metadata from threads where threads.thread_id = runs.thread_id)');

function errorContains(part: string): Sql {
  const whole = raw(`((runs.error ->> 'error') || ': ' || (runs.error ->> 'message'))`);
  const found: DialectSql = {
    sqlite: sql`instr(unicode_lower(${whole}), unicode_lower(${part})) > 0`,
    postgres: sql`position(lower(${part}) in lower(${whole})) > 0`,
  };
  return sql`runs.error is not null and ${found}`;
}

/** SQLite: the smallest of the sources that have every match, if it is small. */
async function fewRuns(
  reader: Reader,
  { statuses, assistant_id, waiting, thread_id, ...times }: RunConditions,
  threads: Visibility | undefined,
): Promise<Sql | undefined> {
  const sources = defined([
    statuses?.every((status) => QUEUED_STATUSES.includes(status)) ? OF_QUEUE : undefined,
    waiting === true ? OF_WAITING_THREADS : undefined,
    thread_id === undefined ? undefined : ofThread(thread_id),
    threads && (await runsOfThreads(reader, threads)),
    assistant_id === undefined ? undefined : ofAssistant(assistant_id),
    endedOf(statuses, endedWithin(times)),
  ]);
  const sizes = await Promise.all(sources.map((source) => boundedCount(reader, source, SORT_UP_TO)));
  const least = Math.min(...sizes);
  return least < SORT_UP_TO ? sources[sizes.indexOf(least)] : undefined;
}

const OF_QUEUE = raw('run_queue cross join runs on runs.run_id = run_queue.run_id');

function ofThread(thread_id: string): Sql {
  return sql`(select run_id as id from runs indexed by runs_thread where thread_id = ${thread_id}) source
    cross join runs on runs.run_id = source.id`;
}

function ofAssistant(assistant_id: string): Sql {
  return sql`(select run_id as id from runs indexed by runs_assistant_created where assistant_id = ${assistant_id}) source
    cross join runs on runs.run_id = source.id`;
}

/** Runs that ended within these times, with these statuses. */
function endedOf(statuses: readonly RunStatus[] | undefined, within: readonly Sql[]): Sql | undefined {
  if (within.length === 0) return undefined;
  const ended = and([raw('ended_at is not null'), statuses && sql`status in ${list(statuses)}`, ...within]);
  return sql`(select run_id as id from runs indexed by runs_ended where ${ended}) source
    cross join runs on runs.run_id = source.id`;
}

/** Through the index on the metadata of threads, or by their ids. */
async function runsOfThreads(reader: Reader, threads: Visibility): Promise<Sql | undefined> {
  const path = await mostSelectivePath(reader, threadFilter(threads), SORT_UP_TO);
  if (!path || path.size >= SORT_UP_TO) return undefined;
  return sql`(${path.rows}) source cross join threads on threads.row_id = source.row_id
    cross join runs on runs.thread_id = threads.thread_id`;
}

/** For the indexes on threads. */
export function threadFilter({ metadata, ids }: Visibility): IndexFilter {
  return {
    table: 'threads',
    contained: metadata ? [{ column: 'metadata', filter: metadata }] : [],
    row_id_queries: ids ? [sql`select row_id from threads where ${isOneOf('thread_id', ids)}`] : [],
  };
}

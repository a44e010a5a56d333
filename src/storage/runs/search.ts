import { bind } from '../../db/bind.ts';
import { columns, flag, nullable, number } from '../../db/columns.ts';
import type { Db, Reader } from '../../db/db.ts';
import { decryptJsonColumns } from '../../db/encryption/cipher.ts';
import { parseJsonColumns } from '../../db/json.ts';
import { lateralJoin } from '../../db/lateral-join.ts';
import { and, join, list, type RowOf, raw, type Sql, sql } from '../../db/sql.ts';
import type { RunSummary, RunSummaryField } from '../../schemas/run-search.ts';
import type { RunStatus } from '../../schemas/runs.ts';
import { threadVisible, VISIBLE_THREADS, type Visibility, visible } from '../access/visibility.ts';
import { mayMatch } from '../search/access-path.ts';
import { byteSlices } from '../search/byte-slices.ts';
import { countKeyset, type Keyset, type KeysetRange, keysetPage, mergePages } from '../search/keyset-page.ts';
import { boundedRows } from '../search/list-bytes.ts';
import { removedSummaries } from './removed-runs.ts';
import {
  FAILED,
  FAILED_STATUSES,
  QUEUED_STATUSES,
  type RunConditions,
  type RunList,
  removedRunList,
  runList,
  threadFilter,
} from './run-list.ts';
import { KWARGS_COLUMN, RUN_ERROR_COLUMN } from './runs.ts';
import { IS_WAITING } from './waiting.ts';

export interface RunQuery extends RunConditions, KeysetRange {
  /** `kwargs` are read only if they are named here. */
  readonly select?: readonly RunSummaryField[] | undefined;
  /** Also those that were removed at their end: `removed-runs.ts`. */
  readonly with_removed?: boolean | undefined;
}

export interface FoundRuns {
  readonly found: RunSummary[];
  /** The next page is after this; `undefined` at the end. A page that is not full may have one. */
  readonly next: Keyset | undefined;
}

export type RunSearchRepository = ReturnType<typeof runSearchRepository>;

/** Runs over all threads. Visibility is that of their threads. */
export function runSearchRepository(db: Db) {
  return {
    ...bind(db, { search: searchRuns, count: countRuns }),
    /** True if conditions on the error cannot be met. */
    encrypts_errors: db.cipher.enabled,
  };
}

/** Newest first. */
export async function searchRuns(
  reader: Reader,
  query: RunQuery,
  visibility?: Visibility,
  max_bytes?: number,
): Promise<FoundRuns> {
  const wanted = await narrowed(reader, query);
  if (!wanted) return { found: [], next: undefined };
  const page = await keysetPage(reader, await runList(reader, wanted, visibility), query);
  // Read later: a run moves from one list to the other at its end.
  const removed = query.with_removed ? removedRunList(wanted) : undefined;
  const { found, next } = removed
    ? mergePages(page, await keysetPage(reader, removed, query), query.limit)
    : page;
  const ids = found.map(({ id }) => id);
  const runs = await loadSummaries(reader, ids, query.select, { visibility, max_bytes });
  return { found: removed ? await withRemoved(reader, ids, runs) : runs, next };
}

/** In the order of `ids`, with those that were removed. */
async function withRemoved(
  reader: Reader,
  ids: readonly string[],
  runs: readonly RunSummary[],
): Promise<RunSummary[]> {
  const byId = new Map(runs.map((run) => [run.run_id, run]));
  const missing = ids.filter((id) => !byId.has(id));
  for (const run of await removedSummaries(reader, missing)) byId.set(run.run_id, run);
  return ids.flatMap((id) => byId.get(id) ?? []);
}

export async function countRuns(
  reader: Reader,
  conditions: RunConditions,
  visibility?: Visibility,
): Promise<number> {
  const wanted = await narrowed(reader, conditions);
  if (!wanted) return 0;
  const { statuses, ...others } = wanted;
  if (wanted.waiting === false) {
    const all = await countRuns(reader, { ...wanted, waiting: undefined }, visibility);
    return all - (await countRuns(reader, { ...wanted, waiting: true }, visibility));
  }
  const hasOthers = visibility !== undefined || Object.values(others).some((value) => value !== undefined);
  if (!hasOthers) return countStatuses(reader, statuses);
  const found = await runList(reader, wanted, visibility);
  return isByThread(reader, found) ? countByThread(reader, found) : countKeyset(reader, found);
}

/** With fewer conditions that mean the same and have an index; `undefined` if no run can satisfy them. */
async function narrowed<Conditions extends RunConditions>(
  reader: Reader,
  conditions: Conditions,
): Promise<Conditions | undefined> {
  const { error, statuses = FAILED_STATUSES } = conditions;
  if (error === undefined) return withoutGraph(reader, conditions);
  // Other runs have no error.
  const failed = statuses.filter((status) => FAILED_STATUSES.includes(status));
  return failed.length === 0 ? undefined : withoutGraph(reader, { ...conditions, statuses: failed });
}

/** With one assistant for a graph that only one has, as for most; `undefined` if no assistant has the graph. */
async function withoutGraph<Conditions extends RunConditions>(
  reader: Reader,
  conditions: Conditions,
): Promise<Conditions | undefined> {
  const { graph_id, assistant_id } = conditions;
  if (graph_id === undefined) return conditions;
  const [only, second] = await reader.all(sql`
    select ${columns('assistants', 'assistant_id')} from assistants where graph_id = ${graph_id} limit 2`);
  if (only === undefined) return undefined;
  if (second !== undefined) return conditions;
  if (assistant_id !== undefined && assistant_id !== only.assistant_id) return undefined;
  return { ...conditions, graph_id: undefined, assistant_id: only.assistant_id };
}

const SUMMARY = columns(
  'runs',
  `run_id, thread_id, assistant_id, metadata, status, multitask_strategy, created_at, updated_at, cancel_reason,
  started_at, ended_at, error`,
);
const WAITING = sql`${IS_WAITING} as ${flag('waiting')}`;
const KWARGS = columns('runs', 'kwargs');
type SummaryRow = RowOf<typeof SUMMARY> & RowOf<typeof WAITING> & Partial<RowOf<typeof KWARGS>>;

/**
 * In the order of `ids`, without runs that were deleted or became invisible in the meantime. Throws `InvalidInput` if
 * they are too large for one reply.
 */
async function loadSummaries(
  reader: Reader,
  ids: readonly string[],
  select: RunQuery['select'],
  { visibility, max_bytes }: { visibility: Visibility | undefined; max_bytes: number | undefined },
): Promise<RunSummary[]> {
  const isWhole = select?.includes('kwargs') === true;
  const selected: Sql<SummaryRow> = isWhole
    ? sql`${SUMMARY}, ${WAITING}, ${KWARGS}`
    : sql`${SUMMARY}, ${WAITING}`;
  const runs = await boundedRows(reader, {
    what: 'runs',
    or: 'select other fields',
    ids,
    id: 'runs.run_id',
    select: (condition) => sql`select ${selected} from runs where ${condition}`,
    from: raw('from runs'),
    where: [threadVisible('runs.thread_id', visibility)],
    large: [raw('metadata'), ...(isWhole ? [raw('kwargs')] : [])],
    max_bytes,
    read: (row) => summaryOf(reader, row),
  });
  const byId = new Map(runs.map((run) => [run.run_id, run]));
  return ids.flatMap((id) => byId.get(id) ?? []);
}

function summaryOf({ cipher }: Reader, row: SummaryRow): RunSummary {
  const whose = { kwargs: KWARGS_COLUMN, error: RUN_ERROR_COLUMN };
  const { waiting, ...rest } = decryptJsonColumns(cipher, parseJsonColumns(row, ['metadata']), whose);
  return { ...rest, waiting: waiting === 1, removed: false };
}

/** From indexes alone, which cover all statuses but success: the rest of all runs has succeeded. */
async function countStatuses(reader: Reader, statuses: readonly RunStatus[] | undefined): Promise<number> {
  const all = raw('(select count(*) from runs)');
  if (!statuses) return scalar(reader, all);
  const ofQueue = (some: readonly RunStatus[]) => sql`(select count(*) from run_queue q
    ${lateralJoin('runs', 'r', sql`r.run_id = q.run_id and r.status in ${list(some)}`)})`;
  const failed = (some: readonly RunStatus[]) =>
    sql`(select count(*) from runs where ${FAILED} and runs.status in ${list(some)})`;
  const parts = [
    ofQueue(QUEUED_STATUSES.filter((status) => statuses.includes(status))),
    failed(FAILED_STATUSES.filter((status) => statuses.includes(status))),
    ...(statuses.includes('success')
      ? [sql`(${all} - ${ofQueue(QUEUED_STATUSES)} - ${failed(FAILED_STATUSES)})`]
      : []),
  ];
  return scalar(reader, join(parts, ' + '));
}

async function scalar(reader: Reader, value: Sql): Promise<number> {
  return (await reader.get(sql`select ${value} as ${number('count')}`))?.count ?? 0;
}

type RunsOfThreads = RunList & { readonly threads: Visibility };

/** True on SQLite for a condition on threads that many runs meet: for each run it would read the thread once more. */
function isByThread(reader: Reader, list: RunList): list is RunsOfThreads {
  const { few, index, threads } = list;
  return reader.dialect === 'sqlite' && threads !== undefined && !few && index !== 'runs_failed_created';
}

const COUNTED_THREADS = 2000;

/** Counts the runs of each matching thread. In slices, between which other requests are served. */
async function countByThread(reader: Reader, { threads, own }: RunsOfThreads): Promise<number> {
  const last = await reader.get(sql`select max(row_id) as ${nullable(number('row_id'))} from threads`);
  const isCandidate = mayMatch(threadFilter(threads));
  const large = threads.metadata ? [raw('threads.metadata')] : [];
  let total = 0;
  for (let from = 0; from < (last?.row_id ?? 0); from += COUNTED_THREADS) {
    const range = sql`threads.row_id > ${from} and threads.row_id <= ${from + COUNTED_THREADS}`;
    const where = [range, isCandidate];
    for await (const slice of byteSlices(reader, {
      from: raw('threads'),
      where,
      id: 'threads.thread_id',
      large,
    })) {
      const row = await reader.get(sql`
        select count(*) as ${number('count')} from threads cross join runs on runs.thread_id = threads.thread_id
        where ${and([...where, slice, visible(VISIBLE_THREADS, threads), ...own])}`);
      total += row?.count ?? 0;
    }
  }
  return total;
}

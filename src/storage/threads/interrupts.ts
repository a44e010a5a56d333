import { yieldToEventLoop } from '../../core/event-loop.ts';
import type { JsonObject } from '../../core/json.ts';
import { bind } from '../../db/bind.ts';
import { columns, nullable, number } from '../../db/columns.ts';
import type { Db, Reader } from '../../db/db.ts';
import { decryptJsonColumns } from '../../db/encryption/cipher.ts';
import { isOneOf } from '../../db/json.ts';
import { combineFilters, matchesEverything } from '../../db/metadata-filter.ts';
import { type DialectSql, raw, type Sql, sql } from '../../db/sql.ts';
import type { InterruptCounts } from '../../schemas/system-overview.ts';
import type { Interrupt } from '../../schemas/threads.ts';
import { VISIBLE_THREADS, type Visibility, visible } from '../access/visibility.ts';
import { threadFilter } from '../runs/run-list.ts';
import { newestRun } from '../runs/waiting.ts';
import { mostSelectivePath } from '../search/access-path.ts';
import { octetLength, SLICE_BYTES, slicesOf } from '../search/byte-slices.ts';
import { EXAMINED_ROWS, type Keyset, type KeysetList, keysetPage } from '../search/keyset-page.ts';
import { boundedRows } from '../search/list-bytes.ts';
import { timeRange } from '../search/time-range.ts';
import {
  type DeadlineRange,
  deadlineOf,
  hasDeadlineRange,
  isDueWithin,
  MAY_HAVE_DEADLINE,
} from './deadline.ts';
import { IN_FLIGHT, THREAD_COLUMNS } from './row.ts';

export interface InterruptConditions extends DeadlineRange {
  /** Containment filter. */
  readonly thread_metadata?: JsonObject | undefined;
  /** The assistant of the run that asks. */
  readonly assistant_id?: string | undefined;
  /** Times since which they wait, in UTC; inclusive and exclusive. */
  readonly since_from?: string | undefined;
  readonly since_to?: string | undefined;
}

/** A position in the list: a thread, by the time of its state, and one of its interrupts. */
export interface InterruptPosition extends Keyset {
  readonly interrupt_id: string;
}

export interface InterruptQuery extends InterruptConditions {
  readonly order: 'asc' | 'desc';
  readonly after?: InterruptPosition | undefined;
  readonly limit: number;
}

export interface FoundInterrupt {
  readonly interrupt: Interrupt & { readonly id: string };
  readonly task_id: string;
  readonly deadline: string | undefined;
  readonly thread_id: string;
  readonly since: string;
  /** The run that asks; null if it was deleted. */
  readonly run_id: string | null;
  readonly assistant_id: string | null;
}

export interface InterruptPage {
  readonly found: FoundInterrupt[];
  /** The next page is after this; `undefined` at the end. A page that is not full may have one. */
  readonly next: InterruptPosition | undefined;
}

export type InterruptRepository = ReturnType<typeof interruptRepository>;

/** Interrupts that wait for an answer, over all threads. A thread with a run in the queue does not wait. */
export function interruptRepository(db: Db) {
  return bind(db, { search: searchInterrupts, count: countInterrupts, countNewest: countNewestInterrupts });
}

/** A page reads at most this many threads: most of them may have no interrupt with such a deadline, or none at all. */
const THREADS_READ = 1000;
/** After every interrupt of a thread. */
const END_OF_THREAD = '\uffff';

/** By the time since which their threads wait; those of one thread by id. */
async function searchInterrupts(
  reader: Reader,
  { order, after, limit, ...conditions }: InterruptQuery,
  visibility?: Visibility,
  max_bytes?: number,
): Promise<InterruptPage> {
  const list = await waitingThreads(reader, conditions, order, visibility);
  const found: FoundInterrupt[] = [];
  let range = { after: after as Keyset | undefined, is_inclusive: true, limit: limit + 1 };
  for (let read = 0; ; read += range.limit) {
    const page = await keysetPage(reader, list, range);
    const interrupts = await loadInterrupts(reader, page.found, { visibility, max_bytes });
    const isWanted = (each: FoundInterrupt) => !isUpTo(each, after) && isDueWithin(conditions, each.deadline);
    found.push(...interrupts.filter(isWanted));
    if (found.length > limit) return { found: found.slice(0, limit), next: positionOf(found[limit - 1]) };
    if (!page.next) return { found, next: undefined };
    if (page.found.length < range.limit || read >= THREADS_READ)
      return { found, next: { ...page.next, interrupt_id: END_OF_THREAD } };
    range = { ...range, after: page.next, is_inclusive: false };
  }
}

function isUpTo({ thread_id, interrupt }: FoundInterrupt, after: InterruptPosition | undefined): boolean {
  return thread_id === after?.id && interrupt.id <= after.interrupt_id;
}

function positionOf(last: FoundInterrupt | undefined): InterruptPosition | undefined {
  return last && { at: last.since, id: last.thread_id, interrupt_id: last.interrupt.id };
}

const COUNTED_THREADS = 500;
/** A count reads and decrypts at most this many threads. */
const MAX_COUNTED_THREADS = 10_000;
const NEWEST_PARTS = 4;

async function countInterrupts(
  reader: Reader,
  conditions: InterruptConditions,
  visibility?: Visibility,
  { max_bytes = SLICE_BYTES, max_threads = MAX_COUNTED_THREADS } = {},
): Promise<number> {
  const list = await waitingThreads(reader, conditions, 'desc', visibility);
  let total = 0;
  let left = max_threads;
  let after: Keyset | undefined;
  do {
    const page = await keysetPage(reader, list, { after, limit: Math.min(COUNTED_THREADS, left) });
    for (const part of await partsOf(reader, page.found, max_bytes))
      total += await countOfThreads(reader, part, conditions);
    left -= page.found.length;
    after = page.next;
  } while (after && left > 0);
  return total;
}

/** Counts the newest threads only, in at most `NEWEST_PARTS` reads: the overview must have a bounded cost. */
async function countNewestInterrupts(reader: Reader): Promise<InterruptCounts> {
  const list = await waitingThreads(reader, {}, 'desc', undefined);
  const { found, next } = await keysetPage(reader, list, { limit: COUNTED_THREADS });
  const parts = await partsOf(reader, found, SLICE_BYTES);
  let waiting = 0;
  for (const part of parts.slice(0, NEWEST_PARTS)) waiting += await countOfThreads(reader, part, {});
  return { waiting, more: next !== undefined || parts.length > NEWEST_PARTS };
}

async function countOfThreads(reader: Reader, ids: readonly string[], range: DeadlineRange): Promise<number> {
  const rows = await reader.all(
    sql`select ${columns('threads', 'interrupts')} from threads where ${isOneOf('thread_id', ids)}`,
  );
  let count = 0;
  for (const row of rows) {
    // Reading the part took a while.
    await yieldToEventLoop();
    count += byId(reader, row).filter(({ deadline }) => isDueWithin(range, deadline)).length;
  }
  return count;
}

/** The threads in parts whose interrupts have at most `max_bytes`, or that have one thread. */
async function partsOf(reader: Reader, threads: readonly Keyset[], max_bytes: number): Promise<string[][]> {
  const size = sql`${columns('threads', 'thread_id')}, ${octetLength(raw('interrupts'))} as ${number('bytes')}`;
  const ids = threads.map(({ id }) => id);
  const rows = await reader.all(sql`select ${size} from threads where ${isOneOf('thread_id', ids)}`);
  return slicesOf(rows, max_bytes).map((slice) => slice.map(({ thread_id }) => thread_id));
}

async function waitingThreads(
  reader: Reader,
  conditions: InterruptConditions,
  order: 'asc' | 'desc',
  visibility: Visibility | undefined,
): Promise<KeysetList> {
  const { thread_metadata, assistant_id } = conditions;
  const metadata = combineFilters(thread_metadata && { contains: thread_metadata }, visibility?.metadata);
  const threads: Visibility = { metadata, ids: visibility?.ids };
  const assistant = assistant_id === undefined ? [] : [sql`${newestRun('assistant_id')} = ${assistant_id}`];
  return {
    at: 'threads.state_updated_at',
    id: 'threads.thread_id',
    order,
    scanned: { sqlite: raw('threads indexed by threads_waiting'), postgres: raw('threads') },
    indexed: [raw(`threads.status = 'interrupted'`), ...waitingSince(conditions)],
    where: [
      HAS_INTERRUPTS,
      sql`not ${IN_FLIGHT}`,
      sql`${visible(VISIBLE_THREADS, threads) as Sql}`,
      ...assistant,
      ...(hasDeadlineRange(conditions) && !reader.cipher.enabled ? [MAY_HAVE_DEADLINE] : []),
    ],
    large: [raw('threads.interrupts'), ...(matchesEverything(metadata) ? [] : [raw('threads.metadata')])],
    few: await fewThreads(reader, threads),
    examined_rows: EXAMINED_ROWS,
  };
}

const waitingSince = ({ since_from, since_to }: InterruptConditions): Sql[] =>
  timeRange(raw('threads.state_updated_at'), since_from, since_to);

/** Threads that stopped elsewhere, such as at a cancel, have no interrupts. Encrypted ones look as if they had some. */
const HAS_INTERRUPTS: DialectSql = {
  sqlite: raw(`threads.interrupts <> '{}'`),
  postgres: raw(`threads.interrupts::text <> '{}'`),
};

/** Up to this many threads are read and sorted. */
const SORT_UP_TO = 2000;

async function fewThreads(reader: Reader, threads: Visibility): Promise<Sql | undefined> {
  if (reader.dialect === 'postgres') return undefined;
  const path = await mostSelectivePath(reader, threadFilter(threads), SORT_UP_TO);
  if (!path || path.size >= SORT_UP_TO) return undefined;
  return sql`(${path.rows}) source cross join threads on threads.row_id = source.row_id`;
}

const WAITING = sql`${columns('threads', 'threads.thread_id, threads.state_updated_at as since, threads.interrupts')},
  ${nullable(columns('runs', 'r.run_id, r.assistant_id'))}`;

/** In the order of the threads. Throws `InvalidInput` if they are too large for one reply. */
async function loadInterrupts(
  reader: Reader,
  threads: readonly Keyset[],
  { visibility, max_bytes }: { visibility: Visibility | undefined; max_bytes: number | undefined },
): Promise<FoundInterrupt[]> {
  const ids = threads.map(({ id }) => id);
  const found = await boundedRows(reader, {
    what: 'interrupts',
    ids,
    id: 'threads.thread_id',
    select: (condition) => sql`select ${WAITING} from threads
      left join runs r on r.run_id = ${newestRun('run_id')} where ${condition}`,
    from: raw('from threads'),
    where: [visible(VISIBLE_THREADS, visibility)],
    large: [raw('threads.interrupts')],
    max_bytes,
    read: ({ interrupts, ...thread }) => ({
      thread_id: thread.thread_id,
      interrupts: byId(reader, { interrupts }).map((each) => ({ ...each, ...thread })),
    }),
  });
  const byThread = new Map(found.map(({ thread_id, interrupts }) => [thread_id, interrupts]));
  return ids.flatMap((id) => byThread.get(id) ?? []);
}

/** Interrupts with an id, so that they can be answered, in the order of the ids. */
function byId(
  { cipher }: Reader,
  row: { interrupts: string | null },
): Pick<FoundInterrupt, 'interrupt' | 'task_id' | 'deadline'>[] {
  const { interrupts } = decryptJsonColumns(cipher, row, THREAD_COLUMNS_OF_ROW);
  const tasks = Object.entries((interrupts ?? {}) as Record<string, Interrupt[]>);
  const all = tasks.flatMap(([task_id, each]) => each.map((interrupt) => ({ task_id, interrupt })));
  const named = all.filter(
    (each): each is Pick<FoundInterrupt, 'interrupt' | 'task_id'> => typeof each.interrupt.id === 'string',
  );
  const due = named.map((each) => ({ ...each, deadline: deadlineOf(each.interrupt.value) }));
  return due.sort((one, other) => (one.interrupt.id < other.interrupt.id ? -1 : 1));
}

const THREAD_COLUMNS_OF_ROW = { interrupts: THREAD_COLUMNS.interrupts };

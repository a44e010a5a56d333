import { columns, nullable } from '../../db/columns.ts';
import type { Reader } from '../../db/db.ts';
import { and, type DialectSql, raw, sql } from '../../db/sql.ts';
import type { LogLine } from '../../schemas/run-logs.ts';
import { threadVisible, type Visibility } from '../access/visibility.ts';
import { linesOf } from './run-logs.ts';

/** Lines of one run that were committed together. */
export interface LogBatch {
  readonly run_id: string;
  /** Number of the last line. */
  readonly seq: number;
  readonly created_at: string;
  readonly lines: readonly LogLine[];
}

/** A place in the lines of all runs: after this batch. */
export type LogPosition = Pick<LogBatch, 'created_at' | 'run_id' | 'seq'>;

export interface NewestLogsQuery {
  readonly after: LogPosition;
  readonly assistant_id?: string | undefined;
  readonly limit: number;
}

/**
 * How much older a commit may be than another one that is visible already, ms: PostgreSQL notes when a transaction began.
 */
export const COMMIT_DELAY_MS = 2000;

const LINES = columns('run_logs', 'l.run_id, l.seq, l.attempt, l.created_at, l.data');

/** As precise as a position: PostgreSQL has microseconds. */
const CREATED: DialectSql = {
  sqlite: raw('l.created_at'),
  postgres: raw(`date_trunc('milliseconds', l.created_at)`),
};

/**
 * Lines of all visible runs after the position, oldest first. Those of runs that were removed at their end stay for a
 * minute, and are visible to who may see every thread: the thread that would tell is deleted.
 */
export async function findNewestLogs(
  reader: Reader,
  { after, assistant_id, limit }: NewestLogsQuery,
  visibility?: Visibility,
): Promise<LogBatch[]> {
  const wanted = (run: 'r' | 'l') =>
    and([
      sql`(${CREATED}, l.run_id, l.seq) > (${after.created_at}, ${after.run_id}, ${after.seq})`,
      // The range of the index.
      sql`l.created_at >= ${after.created_at}`,
      assistant_id === undefined ? undefined : sql`${raw(run)}.assistant_id = ${assistant_id}`,
      threadVisible('r.thread_id', visibility),
    ]);
  const rows = await reader.all(sql`
    select ${LINES}, ${columns('runs', 'r.thread_id, r.assistant_id')}
    from run_logs l join runs r on r.run_id = l.run_id where ${wanted('r')}
    order by ${CREATED}, l.run_id, l.seq limit ${limit}`);
  if (visibility) return rows.map((row) => batchOf(reader, row));
  // Read later: lines move from one table to the other when their run is removed.
  const removed = await reader.all(sql`
    select ${LINES}, ${columns('runs', 'l.thread_id, l.assistant_id')}
    from removed_run_logs l where ${wanted('l')}
    order by ${CREATED}, l.run_id, l.seq limit ${limit}`);
  const all = new Map([...rows, ...removed].map((row) => [`${row.run_id}/${row.seq}`, row]));
  return [...all.values()]
    .sort(byPosition)
    .slice(0, limit)
    .map((row) => batchOf(reader, row));
}

interface LinesRow extends LogPosition {
  readonly attempt: number;
  readonly data: string;
  readonly thread_id: string;
  readonly assistant_id: string;
}

function batchOf(reader: Reader, { thread_id, assistant_id, ...row }: LinesRow): LogBatch {
  const { run_id, seq, created_at } = row;
  const lines = linesOf(reader, row).map((line) => ({ run_id, thread_id, assistant_id, ...line }));
  return { run_id, seq, created_at, lines };
}

function byPosition(one: LogPosition, other: LogPosition): number {
  return (
    compareText(one.created_at, other.created_at) ||
    compareText(one.run_id, other.run_id) ||
    one.seq - other.seq
  );
}

function compareText(one: string, other: string): number {
  return one < other ? -1 : Number(one > other);
}

/** When the newest lines were stored; undefined without any. */
export async function newestLogTime(reader: Reader): Promise<string | undefined> {
  const row = await reader.get(
    sql`select max(created_at) as ${nullable(columns('run_logs', 'created_at'))} from run_logs`,
  );
  return row?.created_at ?? undefined;
}

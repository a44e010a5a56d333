import { timestamp } from '../../core/clock.ts';
import type { JsonObject } from '../../core/json.ts';
import { columns, nullable, number } from '../../db/columns.ts';
import type { Db, Reader, Transaction } from '../../db/db.ts';
import { raw, sql } from '../../db/sql.ts';
import { NOW, nowPlus } from '../../db/time.ts';
import { MAX_LOG_LINES, type RunLogLine } from '../../schemas/run-logs.ts';

/** Cipher column of the lines. */
const RUN_LOG_COLUMN = 'run_logs.data';

/** Stored text of a run's lines, bytes; one commit may exceed it. */
const MAX_RUN_BYTES = 256 * 1024;

/** A line as it is stored: epoch ms, level, message, node, and location in the code. */
export type StoredLine = readonly [
  time: number,
  level: RunLogLine['level'],
  message: string,
  node: string | null,
  at: string | null,
];

/** Lines of one attempt that are committed together. */
export interface LogLines {
  readonly attempt: number;
  /** Number of the last one. */
  readonly seq: number;
  readonly lines: readonly StoredLine[];
  /** The run may have more lines now than are kept. */
  readonly trims: boolean;
}

/** Lines of a run that are committed now. */
export interface StoredLines extends Omit<LogLines, 'trims'> {
  readonly run_id: string;
  readonly thread_id: string;
  readonly assistant_id: string;
  /**
   * Metadata of the thread, as the run created it, if it is deleted at the end of the run: who may see its last lines
   * cannot be asked of the database any more.
   */
  readonly thread_metadata?: JsonObject | undefined;
}

export type RunLogRepository = ReturnType<typeof runLogRepository>;

/**
 * What the code of runs printed: appended by the lease holder (`appendRunLog`), readable by anyone; for a short time also
 * that of runs that were removed at their end, to which only followers that began before have the id and the permission.
 */
export function runLogRepository(db: Db) {
  return {
    /** Lines after number `seq`, oldest first: at most `limit`, and those next to `seq` unless it is undefined. */
    async read(run_id: string, seq: number | undefined, limit: number): Promise<RunLogLine[]> {
      const rows = await rowsAfter(db, run_id, seq ?? 0);
      const lines = rows.flatMap((row) => linesOf(db, row)).slice(-MAX_LOG_LINES);
      const asked = lines.filter((line) => line.seq > (seq ?? 0));
      return seq === undefined ? asked.slice(-limit) : asked.slice(0, limit);
    },

    /** Deletes rows of runs that ended `retention_ms` ago, at most `limit`, the oldest first; returns how many. */
    deleteExpired(retention_ms: number, limit: number): Promise<number> {
      const before = nowPlus(-retention_ms);
      return db.run(
        sql`delete from run_logs where (run_id, seq) in (
          select l.run_id, l.seq from run_logs l join runs r on r.run_id = l.run_id
          where l.created_at <= ${before} and r.ended_at <= ${before} order by l.created_at limit ${limit})`,
        'async',
      );
    },

    /** Deletes expired rows of runs that were removed at their end, at most `limit`; returns how many. */
    deleteRemoved: (limit: number): Promise<number> =>
      db.run(
        sql`delete from removed_run_logs where (run_id, seq) in (
          select run_id, seq from removed_run_logs where expires_at <= ${NOW} order by expires_at limit ${limit})`,
        'async',
      ),
  };
}

const ROW = columns('run_logs', 'seq, attempt, data');

/** In one statement: lines move from one table to the other when their run is removed. */
function rowsAfter(reader: Reader, run_id: string, seq: number) {
  return reader.all(sql`
    select ${ROW} from run_logs where run_id = ${run_id} and seq > ${seq}
    union all select ${ROW} from removed_run_logs where run_id = ${run_id} and seq > ${seq} order by seq`);
}

export function linesOf(
  { cipher }: Reader,
  { seq, attempt, data }: { seq: number; attempt: number; data: string },
): RunLogLine[] {
  return numberedLines({ seq, attempt, lines: JSON.parse(cipher.decryptText(RUN_LOG_COLUMN, data)) });
}

/** The lines as clients see them. */
export function numberedLines({ seq, attempt, lines }: Omit<LogLines, 'trims'>): RunLogLine[] {
  const first = seq - lines.length + 1;
  return lines.map(([time, level, message, node, at], index) => ({
    seq: first + index,
    time: timestamp(time),
    level,
    message,
    node,
    at,
    attempt,
  }));
}

/** Number of the last line; 0 without lines. Stays as it is while the lease is held, but for what its holder adds. */
export async function lastLine(
  reader: Reader,
  run_id: string,
  table: 'run_logs' | 'removed_run_logs' = 'run_logs',
): Promise<number> {
  const row = await reader.get(
    sql`select max(seq) as ${nullable(number('last'))} from ${raw(table)} where run_id = ${run_id}`,
  );
  return row?.last ?? 0;
}

/** Part of a transaction that has checked the lease. Idempotent: the response to a commit may be lost. */
export async function appendRunLog(
  tx: Transaction,
  run_id: string,
  { attempt, seq, lines, trims }: LogLines,
): Promise<void> {
  await tx.run(sql`
    insert into run_logs (run_id, seq, attempt, created_at, data)
    values (${run_id}, ${seq}, ${attempt}, ${NOW}, ${encryptLines(tx, lines)}) on conflict (run_id, seq) do nothing`);
  if (trims) await trim(tx, run_id);
}

export function encryptLines({ cipher }: Transaction, lines: LogLines['lines']): string {
  return cipher.encryptText(RUN_LOG_COLUMN, JSON.stringify(lines));
}

/** Deletes the oldest lines beyond the limits; the newest commit stays whole. */
async function trim(tx: Transaction, run_id: string): Promise<void> {
  await tx.run(sql`
    delete from run_logs where run_id = ${run_id} and seq <= (
      select max(seq) from (
        select seq, max(seq) over () as newest, sum(octet_length(data)) over (order by seq desc) as bytes
        from run_logs where run_id = ${run_id}
      ) sized where seq < newest and (seq <= newest - ${MAX_LOG_LINES} or bytes > ${MAX_RUN_BYTES}))`);
}

import { toJson } from '../../core/json.ts';
import { columns, nullable, number } from '../../db/columns.ts';
import type { Db, Transaction } from '../../db/db.ts';
import { decryptTextColumns } from '../../db/encryption/cipher.ts';
import { insertRows } from '../../db/rows.ts';
import { and, type DialectSql, join, list, raw, type Sql, sql } from '../../db/sql.ts';
import { NOW, nowPlus } from '../../db/time.ts';
import type { RunStatus } from '../../schemas/runs.ts';
import type { ResumeRefusal, RunError } from '../../schemas/threads.ts';
import { slicesOf } from '../search/byte-slices.ts';

/**
 * One entry of a run's event log. `data` is the JSON text that is sent, serialised once. Frames of a run are numbered 1..n
 * without gaps (invariant 3).
 */
export interface Frame {
  readonly seq: number;
  /** The SSE event name, such as `values` or `updates|child:<task id>`. */
  readonly event: string;
  readonly data: string;
}

/** Consecutive part of a run's log. */
export interface Page {
  readonly frames: readonly Frame[];
  /** There were no more frames when it was read. */
  readonly isLast: boolean;
}

const FRAME = columns('run_events', 'seq, event, data');

/** Page size of a reader: a client that never reads holds a page in memory for as long as it likes. */
const PAGE_BYTES = 128 * 1024;

/** Cipher column of the event data. */
export const EVENT_DATA_COLUMN = 'run_events.data';
const ENCRYPTED_COLUMNS = { data: EVENT_DATA_COLUMN };

export type RunEventRepository = ReturnType<typeof runEventRepository>;

/**
 * The event logs of all runs: appended by the lease holder (`WriteBuffer`), readable by anyone from any position. `retained`: as
 * `OwnedData.keeps_log`.
 */
export function runEventRepository(db: Db, retained: readonly string[] = []) {
  return {
    /** Next page: at most `limit` frames, none starting beyond `PAGE_BYTES`; sizing does not read `data`. */
    async readAfter(run_id: string, seq: number, limit: number): Promise<Page> {
      const rows = await db.all(sql`select ${FRAME} from run_events
        where run_id = ${run_id} and seq > ${seq} and seq <= (
          select max(seq) from (
            select seq, sum(octet_length(data)) over (order by seq) - octet_length(data) as bytes_before
            from run_events where run_id = ${run_id} and seq > ${seq} order by seq limit ${limit}
          ) sized where bytes_before < ${PAGE_BYTES}
        ) order by seq`);
      const isLast = rows.length < limit && bytesOf(rows) < PAGE_BYTES;
      for (const row of rows) decryptTextColumns(db.cipher, row, ENCRYPTED_COLUMNS);
      return { frames: rows, isLast };
    },

    /** All frames of a run whose event names begin with one of these. */
    async readNamed(run_id: string, beginnings: readonly string[]): Promise<Frame[]> {
      const names = beginnings.map((name) => sql`substr(event, 1, ${name.length}) = ${name}`);
      const rows = await db.all(sql`select ${FRAME} from run_events
        where run_id = ${run_id} and (${join(names, ' or ')}) order by seq`);
      for (const row of rows) decryptTextColumns(db.cipher, row, ENCRYPTED_COLUMNS);
      return rows;
    },

    /** Returns 0 for an empty log. */
    async lastSeq(run_id: string): Promise<number> {
      const row = await db.get(
        sql`select max(seq) as ${nullable(number('last'))} from run_events where run_id = ${run_id}`,
      );
      return row?.last ?? 0;
    },

    /**
     * Deletes rows of expired logs of ended runs, at most `limit`; returns how many. Skips those that are
     * retained, see `OwnedData`.
     */
    deleteExpired: (limit: number): Promise<number> =>
      db.transaction('reclaim', (tx) => deleteExpiredRows(tx, limit, retained)),
  };
}

/** Size of the stored data, which may be encrypted. */
function bytesOf(frames: readonly Frame[]): number {
  return frames.reduce((bytes, { data }) => bytes + Buffer.byteLength(data), 0);
}

/** Skips logs that another process deletes from. SQLite has a single writer and no such clause. */
const SKIP_LOCKED: DialectSql = { sqlite: raw(''), postgres: raw('for update of e skip locked') };

/**
 * A log may have more rows than one transaction should delete. It then ends earlier from batch to batch: a reader takes
 * missing events at the end for a log that was deleted meanwhile, and missing events before others for a loss. Its
 * expiry is the last row to go.
 */
async function deleteExpiredRows(
  tx: Transaction,
  limit: number,
  retained: readonly string[],
): Promise<number> {
  const notRetained = retained.map((condition) => sql`not ${raw(condition)}`);
  const due = await tx.all(sql`
    select ${columns('run_event_expiry', 'run_id')} from run_event_expiry e
    where ${and([sql`expires_at <= ${NOW}`, ...notRetained])}
    order by expires_at limit ${limit} ${SKIP_LOCKED}`);
  let left = limit;
  const runs = due.map(({ run_id }) => run_id);
  if (runs.length === 0) return 0;
  left -= await deleteEvents(tx, newestOf('run_events', 'seq', runs, left));
  if (left > 0)
    left -= await tx.run(sql`delete from run_checkpoints where (run_id, checkpoint_id) in (
      select run_id, checkpoint_id ${newestOf('run_checkpoints', 'checkpoint_id', runs, left)})`);
  if (left > 0)
    left -= await tx.run(sql`delete from run_event_expiry where run_id in ${list(runs.slice(0, left))}`);
  return limit - left;
}

/** A `from` clause of rows `e` to delete, newest first: a log that is left in part must not begin with a gap. */
export function newestOf(
  table: 'run_events' | 'run_checkpoints',
  key: string,
  run_ids: readonly string[],
  limit: number,
): Sql {
  return sql`from ${raw(table)} e where e.run_id in ${list(run_ids)}
    order by e.run_id desc, ${raw(`e.${key}`)} desc limit ${limit}`;
}

/**
 * Deletes the events `e` of a `from` clause, and returns their number. In slices by bytes on SQLite, which frees the pages
 * of a statement in one go.
 */
export async function deleteEvents(tx: Transaction, chosen: Sql): Promise<number> {
  if (tx.dialect === 'postgres')
    return tx.run(sql`delete from run_events where (run_id, seq) in (select e.run_id, e.seq ${chosen})`);
  const sized = await tx.all(sql`
    select ${columns('run_events', 'e.run_id, e.seq')}, octet_length(e.data) as ${number('bytes')} ${chosen}`);
  for (const slice of slicesOf(sized)) {
    const keys = toJson(slice.map(({ run_id, seq }) => [run_id, seq]));
    await tx.run(sql`delete from run_events where (run_id, seq) in (
      select value ->> 0, value ->> 1 from json_each(${keys}))`);
  }
  return sized.length;
}

/** Events that SQLite reads the sizes of at once. */
const BATCH = 1_000;

/** `run_ids`: a list or a query, in parentheses. */
export async function deleteLogs(tx: Transaction, run_ids: Sql): Promise<void> {
  const events = sql`from run_events e where e.run_id in ${run_ids}`;
  // One statement on PostgreSQL: a batch that waits for another deletion of its rows would look like the last one.
  if (tx.dialect === 'postgres') await deleteEvents(tx, events);
  else while ((await deleteEvents(tx, sql`${events} limit ${BATCH}`)) === BATCH);
  await tx.run(sql`delete from run_checkpoints where run_id in ${run_ids}`);
  await tx.run(sql`delete from run_event_expiry where run_id in ${run_ids}`);
}

/** Part of a transaction that has checked the lease. Idempotent: the response to a commit may be lost. */
export function insertFrames(tx: Transaction, run_id: string, frames: readonly Frame[]): Promise<void> {
  return insertRows(
    tx,
    sql`run_events (run_id, seq, event, data)`,
    frames.map(
      ({ seq, event, data }) =>
        sql`(${run_id}, ${seq}, ${event}, ${tx.cipher.encryptText(EVENT_DATA_COLUMN, data)})`,
    ),
    sql`on conflict (run_id, seq) do nothing`,
  );
}

/** Name of a log's last entry, its end marker, which is never sent. Its data is a `RunOutcome`. */
export const END_EVENT = '__end__';

/**
 * True for the end frame. It is written in the transaction that writes the run's final status, so that stream and run
 * end atomically. It is never sent to a client.
 */
export function isEnd(frame: Frame): boolean {
  return frame.event === END_EVENT;
}

/** How a run ended, for readers in other processes. */
export interface RunOutcome {
  readonly status: RunStatus | 'rollback';
  /** Its thread is interrupted: at an interrupt, or before or after a node. */
  readonly waits?: true;
  /** Error message. */
  readonly error?: string;
  /** Why its answer was refused. */
  readonly refusal?: ResumeRefusal;
}

/** The refusal in a run's error, if it ended with one. */
export function refusalOf(error: RunError | null): ResumeRefusal | undefined {
  const { reason, interrupt_ids = [], pending_ids = [] } = error ?? {};
  return reason && { reason, interrupt_ids, pending_ids };
}

/** Appends the end marker to a run's log, and sets the log's expiry. */
export function closeRunLog(
  tx: Transaction,
  run_id: string,
  outcome: RunOutcome,
  retention_ms: number,
): void {
  const data = tx.cipher.encryptText(EVENT_DATA_COLUMN, JSON.stringify(outcome));
  tx.defer(sql`
    insert into run_events (run_id, seq, event, data)
    select ${run_id}${castUuid(tx)}, coalesce(max(seq), 0) + 1, ${END_EVENT}, ${data}
    from run_events where run_id = ${run_id}`);
  setLogExpiry(tx, run_id, retention_ms);
}

/** Sets the log's expiry to `retention_ms` from now; a later call moves it. */
export function setLogExpiry(tx: Transaction, run_id: string, retention_ms: number): void {
  tx.defer(sql`
    insert into run_event_expiry (run_id, expires_at) values (${run_id}, ${nowPlus(retention_ms)})
    on conflict (run_id) do update set expires_at = excluded.expires_at`);
}

/** In a select list PostgreSQL cannot infer a parameter's type from the column it goes to. */
function castUuid(tx: Transaction) {
  return raw(tx.dialect === 'postgres' ? '::uuid' : '');
}

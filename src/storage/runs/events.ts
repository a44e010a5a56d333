import type { Db, Transaction } from '../../db/db.ts';
import { decryptTextColumns } from '../../db/encryption/cipher.ts';
import { insertRows } from '../../db/rows.ts';
import { join, list, raw, type Sql, sql } from '../../db/sql.ts';
import { NOW, nowPlus } from '../../db/time.ts';
import type { RunStatus } from '../../schemas/runs.ts';

/**
 * One entry of a run's event log. `data` is the JSON text that goes on the wire, serialised once.
 * A run's frames are numbered 1..n without gaps (invariant 3).
 */
export interface Frame {
  readonly seq: number;
  /** The SSE event name, such as `values` or `updates|child:<task id>`. */
  readonly event: string;
  readonly data: string;
}

/** What a reader holds of a log at once: a client that never reads keeps it for as long as it likes. */
const PAGE_BYTES = 128 * 1024;

/** What it is sealed as. */
export const EVENT_DATA_COLUMN = 'run_events.data';
const ENCRYPTED_COLUMNS = { data: EVENT_DATA_COLUMN };

export type RunEventRepository = ReturnType<typeof runEventRepository>;

/** The event logs of all runs: appended by the holder of the lease (`WriteBuffer`), read by anybody from any position. */
export function runEventRepository(db: Db) {
  return {
    /** The next frames: at most `limit`, and none that begins beyond `PAGE_BYTES`. Their sizes are known without reading them. */
    async readAfter(run_id: string, seq: number, limit: number): Promise<Frame[]> {
      const rows = await db.all<Frame>(sql`select seq, event, data from run_events
        where run_id = ${run_id} and seq > ${seq} and seq <= (
          select max(seq) from (
            select seq, sum(octet_length(data)) over (order by seq) - octet_length(data) as bytes_before
            from run_events where run_id = ${run_id} and seq > ${seq} order by seq limit ${limit}
          ) sized where bytes_before < ${PAGE_BYTES}
        ) order by seq`);
      for (const row of rows) decryptTextColumns(db.cipher, row, ENCRYPTED_COLUMNS);
      return rows;
    },

    /** All of a run whose names begin with one of these. */
    async readNamed(run_id: string, beginnings: readonly string[]): Promise<Frame[]> {
      const names = beginnings.map((name) => sql`substr(event, 1, ${name.length}) = ${name}`);
      const rows = await db.all<Frame>(sql`select seq, event, data from run_events
        where run_id = ${run_id} and (${join(names, ' or ')}) order by seq`);
      for (const row of rows) decryptTextColumns(db.cipher, row, ENCRYPTED_COLUMNS);
      return rows;
    },

    /** 0 when nothing is logged. */
    async lastSeq(run_id: string): Promise<number> {
      const row = await db.get<{ last: number | null }>(
        sql`select max(seq) as last from run_events where run_id = ${run_id}`,
      );
      return row?.last ?? 0;
    },

    /**
     * Drops the logs of ended runs whose time is over, at most `limit` of them; how many. Not those which a task of A2A
     * has yet to read.
     */
    deleteExpired(limit: number): Promise<number> {
      return db.transaction('reclaim', async (tx) => {
        const due = await tx.all<{ run_id: string }>(sql`
          select run_id from run_event_expiry e where expires_at <= ${NOW} and not exists (
            select 1 from a2a_turns u join a2a_tasks t on t.task_id = u.task_id join runs r on r.run_id = t.run_id
            where u.run_id = e.run_id and u.is_kept = 0)
          order by expires_at limit ${limit}`);
        if (due.length > 0) await deleteLogs(tx, list(due.map((row) => row.run_id)));
        return due.length;
      });
    },
  };
}

/** `run_ids`: a list in parentheses, or a query in them. */
export async function deleteLogs(tx: Transaction, run_ids: Sql): Promise<void> {
  await tx.run(sql`delete from run_events where run_id in ${run_ids}`);
  await tx.run(sql`delete from run_checkpoints where run_id in ${run_ids}`);
  await tx.run(sql`delete from run_event_expiry where run_id in ${run_ids}`);
}

/** Part of a transaction that has checked the lease. Again changes nothing: the answer to a commit may get lost. */
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

/** The name of a log's last entry; it marks the end and is never sent. Its data is an `Ending`. */
export const END_EVENT = '__end__';

/** How a run ended, for who follows it from afar. */
export interface RunOutcome {
  readonly status: RunStatus | 'rollback';
  /** Its thread waits: at an interrupt, or before or after a node. */
  readonly waits?: true;
  /** What went wrong. */
  readonly error?: string;
}

/** Closes the log of a run after whatever it holds, and says when it may be dropped. */
export async function closeRunLog(
  tx: Transaction,
  run_id: string,
  outcome: RunOutcome,
  keep_ms: number,
): Promise<void> {
  const data = tx.cipher.encryptText(EVENT_DATA_COLUMN, JSON.stringify(outcome));
  await tx.run(sql`
    insert into run_events (run_id, seq, event, data)
    select ${run_id}${castUuid(tx)}, coalesce(max(seq), 0) + 1, ${END_EVENT}, ${data}
    from run_events where run_id = ${run_id}`);
  await setLogExpiry(tx, run_id, keep_ms);
}

/** The log may be dropped `keep_ms` from now; a later call moves the date. */
export async function setLogExpiry(tx: Transaction, run_id: string, keep_ms: number): Promise<void> {
  await tx.run(sql`
    insert into run_event_expiry (run_id, expires_at) values (${run_id}, ${nowPlus(keep_ms)})
    on conflict (run_id) do update set expires_at = excluded.expires_at`);
}

/** In a select list PostgreSQL cannot infer a parameter's type from the column it goes to. */
function castUuid(tx: Transaction) {
  return raw(tx.dialect === 'postgres' ? '::uuid' : '');
}

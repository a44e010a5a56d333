import { columns } from '../../db/columns.ts';
import type { Db, Reader, Transaction } from '../../db/db.ts';
import { list, type Sql, sql } from '../../db/sql.ts';
import { NOW } from '../../db/time.ts';
import {
  closeRunLog,
  deleteEvents,
  deleteLogs,
  insertFrames,
  newestOf,
  type RunOutcome,
  setLogExpiry,
} from './events.ts';

/**
 * A thread's log is the logs of its runs, concatenated in the order in which the runs began: an event has the number
 * `base + seq`, dense and stable. It costs a run one narrow row at its first claim and one update at its end, and an
 * event nothing. Two facts make it correct: only the head of a thread writes events, and `base` is known at the claim,
 * because the previous run has ended by then (invariant 1). Ruled out: a row for each event, which doubled the cost of
 * tokens, and an order by time, which two clocks can reverse.
 */
export interface ThreadLogEntry {
  /** The run's events are numbered from `base + 1`. */
  readonly base: number;
  readonly run_id: string;
  /** Final number of its events; null until the run has ended. */
  readonly length: number | null;
}

const ENTRY = columns('thread_log', 'base, run_id, length');

/** A log of one entry, for an event of a thread outside any run, such as a state update. */
export interface ThreadEvent {
  /** Takes the place of a run's id; must be new. */
  readonly event_id: string;
  readonly event: string;
  /** JSON text. */
  readonly data: string;
  readonly retention_ms: number;
}

export type ThreadLogRepository = ReturnType<typeof threadLogRepository>;

export function threadLogRepository(db: Db) {
  return {
    /** The first entry with events after number `seq`; entries whose log was deleted are skipped. */
    entryAfter(thread_id: string, seq: number): Promise<ThreadLogEntry | undefined> {
      return db.get(sql`
        select ${ENTRY} from thread_log l
        where thread_id = ${thread_id} and base >= coalesce(
          (select max(base) from thread_log where thread_id = ${thread_id} and base <= ${seq}), 0)
        and (length is null or (base + length > ${seq}
          and exists (select 1 from run_events e where e.run_id = l.run_id)))
        order by base limit 1`);
    },

    /** The run that began last, or the last event outside any run. */
    newest: (thread_id: string) => newestEntry(db, thread_id),
  };
}

function newestEntry(reader: Reader, thread_id: string): Promise<ThreadLogEntry | undefined> {
  return reader.get(sql`
    select ${ENTRY} from thread_log where thread_id = ${thread_id} order by base desc limit 1`);
}

/**
 * Part of the claim: adds the entries of runs that start for the first time. Runs on temporary threads have no
 * followers, and no entry. Never refuses a claim: an entry that a failure left open is closed first, so that no number
 * is assigned twice.
 */
export function openThreadLog(tx: Transaction, run_ids: readonly string[]): void {
  if (run_ids.length === 0) return;
  const runs = list(run_ids);
  tx.defer(sql`
    update thread_log set length = ${lengthOf(1)}
    where length is null and run_id not in ${runs} and (thread_id, base) in (
      select q.thread_id, (select max(l.base) from thread_log l where l.thread_id = q.thread_id)
      from run_queue q where q.run_id in ${runs})`);
  tx.defer(sql`
    insert into thread_log (thread_id, base, run_id)
    select thread_id, coalesce((
      select l.base + case when l.length < 1 then 1 else l.length end
      from thread_log l where l.thread_id = q.thread_id order by l.base desc limit 1), 0), run_id
    from run_queue q where run_id in ${runs}`);
}

/** Part of every end of a run: the end of its own log, and of its part of the thread's. */
export function closeLogs(
  tx: Transaction,
  { run_id, thread_id }: { readonly run_id: string; readonly thread_id: string },
  outcome: RunOutcome,
  retention_ms: number,
): void {
  closeRunLog(tx, run_id, outcome, retention_ms);
  closeThreadLog(tx, thread_id, run_id);
}

/** Makes the length of the entry final. `reserved` numbers are counted but hold no event. */
export function closeThreadLog(tx: Transaction, thread_id: string, run_id: string, reserved = 0): void {
  tx.defer(sql`
    update thread_log set length = ${lengthOf(reserved)}
    where thread_id = ${thread_id} and run_id = ${run_id} and length is null
      and base = (select max(base) from thread_log where thread_id = ${thread_id})`);
}

/** Number of events in the log of the entry's run, plus `reserved`. */
function lengthOf(reserved: number): Sql {
  return sql`${reserved} + coalesce((select max(seq) from run_events e where e.run_id = thread_log.run_id), 0)`;
}

/** Part of a transaction that holds the thread lock and has checked that no run of the thread is in flight. */
export async function appendThreadEvent(
  tx: Transaction,
  thread_id: string,
  event: ThreadEvent,
): Promise<void> {
  const { event_id, retention_ms, ...frame } = event;
  let newest = await newestEntry(tx, thread_id);
  if (newest?.length === null) {
    closeThreadLog(tx, thread_id, newest.run_id, 1);
    newest = await newestEntry(tx, thread_id);
  }
  const base = newest ? newest.base + Math.max(newest.length ?? 1, 1) : 0;
  await tx.run(sql`insert into thread_log (thread_id, base, run_id, length)
    values (${thread_id}, ${base}, ${event_id}, 1)`);
  await insertFrames(tx, event_id, [{ seq: 1, ...frame }]);
  setLogExpiry(tx, event_id, retention_ms);
}

/**
 * Part of the deletion of a thread: deletes the event logs of its runs and of its own events, at most `limit` rows. The rest
 * of a longer log expires at once: no request can find it any more, and retention deletes it in batches.
 */
export async function deleteLogsOfThread(tx: Transaction, thread_id: string, limit = 1_000): Promise<void> {
  // Only its queue row still names the log of a rolled-back run that its worker has not released.
  const logs = sql`(select run_id from runs where thread_id = ${thread_id}
    union select run_id from run_queue where thread_id = ${thread_id}
    union select run_id from thread_log where thread_id = ${thread_id})`;
  const rows = await tx.all(sql`select ${columns('runs', 'run_id')} from ${logs} l limit ${limit}`);
  const run_ids = rows.map(({ run_id }) => run_id);
  const deleted = run_ids.length && (await deleteEvents(tx, newestOf('run_events', 'seq', run_ids, limit)));
  if (deleted < limit && run_ids.length < limit) return deleteLogs(tx, logs);
  await tx.run(sql`
    insert into run_event_expiry (run_id, expires_at) select run_id, ${NOW} from ${logs} l where true
    on conflict (run_id) do update set expires_at = excluded.expires_at`);
}

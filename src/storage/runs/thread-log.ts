import type { Db, Reader, Transaction } from '../../db/db.ts';
import { list, type Sql, sql } from '../../db/sql.ts';
import { deleteLogs, insertFrames, setLogExpiry } from './events.ts';

/**
 * The log of a thread is the logs of its runs, one after the other in the order in which they began: an event has the
 * number `base + seq`, dense and the same for ever. It costs a run one narrow row when it is first claimed and one
 * update at its end, and an event nothing. Two facts make it right: only the head of a thread writes events, and `base`
 * is known when a run is claimed because the run before it has ended by then (invariant 1). Ruled out: a row for each
 * event, which doubled what tokens cost, and an order by time, which two clocks can turn around.
 */
export interface ThreadLogEntry {
  /** The events of the run have the numbers after this one. */
  readonly base: number;
  readonly run_id: string;
  /** How many it has in the end; null while the run is under way. */
  readonly length: number | null;
}

/** A log of one entry for what happens to a thread outside of runs, such as a change of its state. */
export interface ThreadEvent {
  /** Stands for a run's id; must be new. */
  readonly event_id: string;
  readonly event: string;
  /** JSON text. */
  readonly data: string;
  readonly keep_ms: number;
}

export type ThreadLogRepository = ReturnType<typeof threadLogRepository>;

export function threadLogRepository(db: Db) {
  return {
    /** The first run with events after number `seq`; logs that were dropped since are passed over. */
    entryAfter(thread_id: string, seq: number): Promise<ThreadLogEntry | undefined> {
      return db.get<ThreadLogEntry>(sql`
        select base, run_id, length from thread_log l
        where thread_id = ${thread_id} and base >= coalesce(
          (select max(base) from thread_log where thread_id = ${thread_id} and base <= ${seq}), 0)
        and (length is null or (base + length > ${seq}
          and exists (select 1 from run_events e where e.run_id = l.run_id)))
        order by base limit 1`);
    },

    /** The run that began last, or the last event outside of runs. */
    newest: (thread_id: string) => newestEntry(db, thread_id),
  };
}

function newestEntry(reader: Reader, thread_id: string): Promise<ThreadLogEntry | undefined> {
  return reader.get<ThreadLogEntry>(sql`
    select base, run_id, length from thread_log where thread_id = ${thread_id} order by base desc limit 1`);
}

/**
 * Part of the claim: runs that never ran before get their place. Those on threads of their own have no followers. Can
 * never refuse a claim: an entry that was left open, by whatever failure, is closed first, so that no number is given
 * twice.
 */
export async function openThreadLog(tx: Transaction, run_ids: readonly string[]): Promise<void> {
  if (run_ids.length === 0) return;
  const runs = list(run_ids);
  await tx.run(sql`
    update thread_log set length = ${lengthOf(1)}
    where length is null and run_id not in ${runs} and (thread_id, base) in (
      select q.thread_id, (select max(l.base) from thread_log l where l.thread_id = q.thread_id)
      from run_queue q where q.run_id in ${runs})`);
  await tx.run(sql`
    insert into thread_log (thread_id, base, run_id)
    select thread_id, coalesce((
      select l.base + case when l.length < 1 then 1 else l.length end
      from thread_log l where l.thread_id = q.thread_id order by l.base desc limit 1), 0), run_id
    from run_queue q where run_id in ${runs}`);
}

/** Part of every end of a run: its length is final. `unwritten` numbers were reserved and hold nothing. */
export async function closeThreadLog(
  tx: Transaction,
  thread_id: string,
  run_id: string,
  reserved = 0,
): Promise<void> {
  await tx.run(sql`
    update thread_log set length = ${lengthOf(reserved)}
    where thread_id = ${thread_id} and run_id = ${run_id} and length is null
      and base = (select max(base) from thread_log where thread_id = ${thread_id})`);
}

/** What the log of the entry's run holds, and numbers that were reserved beyond it. */
function lengthOf(reserved: number): Sql {
  return sql`${reserved} + coalesce((select max(seq) from run_events e where e.run_id = thread_log.run_id), 0)`;
}

/** Part of a transaction that has locked the thread and seen that no run of it is in flight. */
export async function appendThreadEvent(
  tx: Transaction,
  thread_id: string,
  event: ThreadEvent,
): Promise<void> {
  const { event_id, keep_ms, ...frame } = event;
  let newest = await newestEntry(tx, thread_id);
  if (newest?.length === null) {
    await closeThreadLog(tx, thread_id, newest.run_id, 1);
    newest = await newestEntry(tx, thread_id);
  }
  const base = newest ? newest.base + Math.max(newest.length ?? 1, 1) : 0;
  await tx.run(sql`insert into thread_log (thread_id, base, run_id, length)
    values (${thread_id}, ${base}, ${event_id}, 1)`);
  await insertFrames(tx, event_id, [{ seq: 1, ...frame }]);
  await setLogExpiry(tx, event_id, keep_ms);
}

export async function deleteThreadLog(tx: Transaction, thread_id: string): Promise<void> {
  await deleteLogs(tx, sql`(select run_id from thread_log where thread_id = ${thread_id})`);
  await tx.run(sql`delete from thread_log where thread_id = ${thread_id}`);
}

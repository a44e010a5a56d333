import { columns, nullable, number } from '../../db/columns.ts';
import type { Db, Transaction } from '../../db/db.ts';
import { type DialectSql, list, raw, type Sql, sql } from '../../db/sql.ts';
import { NOW, nowPlus, timePlus } from '../../db/time.ts';
import { isDead } from '../processes.ts';
import { IS_CLAIMED, UNCLAIMED } from './claimed.ts';
import { encryptAttempt } from './delivery-row.ts';

/** One attempt, as stored. */
export interface AttemptRecord {
  /** ISO-8601. */
  readonly started_at: string;
  readonly duration_ms: number;
  /** Null if there was no response. */
  readonly status_code: number | null;
  /** What went wrong, without secrets; null if nothing did. */
  readonly error: string | null;
  /** How the response of a receiver that refused began. */
  readonly answer: string | null;
  /** Headers of the response, without secrets; null if there was none. */
  readonly answer_headers: Readonly<Record<string, string>> | null;
}

/** What happens to a delivery after an attempt. */
export type DeliveryDecision =
  | { readonly outcome: 'delivered' }
  | { readonly outcome: 'dead' }
  /** Retried until `give_up_ms` after the delivery was enqueued or redelivered. */
  | { readonly outcome: 'retry'; readonly in_ms: number; readonly give_up_ms: number };

export type AckResult = 'delivered' | 'dead' | 'pending' | 'lease lost';

/**
 * Acknowledges an attempt. `lease lost`: it took so long that another process has claimed the delivery. At-least-once:
 * losing the outcome to a power failure repeats the delivery, so `async` durability suffices.
 */
export function ackDelivery(
  db: Db,
  { delivery_id, token }: { readonly delivery_id: string; readonly token: string },
  attempt: AttemptRecord,
  decision: DeliveryDecision,
): Promise<AckResult> {
  return db.transaction('async', async (tx) => {
    const row = await tx.get(sql`
      update webhook_outbox set ${UNCLAIMED}, ${changes(decision)}
      where delivery_id = ${delivery_id} and token = ${token} and status = 'pending'
      returning ${columns('webhook_outbox', 'status')}`);
    if (!row) return 'lease lost';
    await insertAttempt(tx, delivery_id, attempt);
    return row.status;
  });
}

function changes(decision: DeliveryDecision): Sql {
  if (decision.outcome !== 'retry') return sql`status = ${decision.outcome}, ended_at = ${NOW}`;
  const again = nowPlus(decision.in_ms);
  const last: DialectSql = timePlus('round_at', decision.give_up_ms);
  // The last attempt is due at the deadline, even if the back-off would end after it.
  return sql`status = case when ${NOW} >= ${last} then 'dead' else 'pending' end,
    ended_at = case when ${NOW} >= ${last} then ${NOW} else null end,
    next_at = case when ${again} < ${last} then ${again} else ${last} end`;
}

async function insertAttempt(tx: Transaction, delivery_id: string, attempt: AttemptRecord): Promise<void> {
  const { started_at, duration_ms, status_code } = attempt;
  const { error, answer, answer_headers } = encryptAttempt(tx.cipher, attempt);
  const row = await tx.get(sql`
    select max(attempt) as ${nullable(number('last'))} from webhook_attempts
    where delivery_id = ${delivery_id}`);
  await tx.run(sql`
    insert into webhook_attempts (delivery_id, attempt, started_at, duration_ms, status_code, error, answer,
      answer_headers)
    values (${delivery_id}, ${(row?.last ?? 0) + 1}, ${started_at}, ${duration_ms}, ${status_code}, ${error},
      ${answer}, ${answer_headers})`);
}

/** Graceful shutdown: releases an unfinished delivery. It is due immediately, and the attempt is not counted. */
export async function releaseDelivery(
  db: Db,
  { delivery_id, token }: { readonly delivery_id: string; readonly token: string },
): Promise<void> {
  await db.run(sql`update webhook_outbox set ${UNCLAIMED}, tries = tries - 1, next_at = ${NOW}
    where delivery_id = ${delivery_id} and token = ${token} and status = 'pending'`);
}

/** For the only process on a database, at startup: no attempt is under way, whatever the claims say. */
export async function releaseAllDeliveries(db: Db): Promise<void> {
  await db.run(sql`update webhook_outbox set ${UNCLAIMED}, next_at = ${NOW}
    where token is not null and status = 'pending'`);
}

/**
 * Releases what these dead workers had claimed; it is due immediately. A worker that is only slow may send its delivery all
 * the same (at-least-once), and cannot acknowledge it. Returns how many were released.
 */
export function releaseLostDeliveries(db: Db, worker_ids: readonly string[]): Promise<number> {
  return db.run(sql`update webhook_outbox set ${UNCLAIMED}, next_at = ${NOW}
    where worker_id in ${list(worker_ids)} and ${IS_CLAIMED}
      and ${isDead(raw('webhook_outbox.worker_id'))}`);
}

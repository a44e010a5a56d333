import type { Delivery, DeliveryAttempt, DeliverySearch } from '../../schemas/webhooks.ts';
import type { Db, Reader } from '../db.ts';
import { all, raw, type Sql, sql } from '../sql.ts';
import { NOW, nowPlus } from '../time.ts';
import { VISIBLE_DELIVERIES, type Visibility, visible } from '../visibility.ts';

const COLUMNS = raw(`delivery_id, kind, run_id, thread_id, shown_url as url, status, tries,
  case when status = 'pending' then next_at end as next_try_at, created_at, ended_at`);

/** Newest first. As everywhere, without a visibility all may be seen. */
export function searchDeliveries(
  reader: Reader,
  search: DeliverySearch,
  visibility?: Visibility,
): Promise<Delivery[]> {
  const { run_id, status, url, limit, offset } = search;
  const wanted = all([
    visible(VISIBLE_DELIVERIES, visibility),
    run_id === undefined ? undefined : sql`run_id = ${run_id}`,
    status === undefined ? undefined : sql`status = ${status}`,
    // What is masked cannot be found out by asking for it letter by letter.
    url === undefined ? undefined : sql`substr(shown_url, 1, length(${url})) = ${url}`,
  ]);
  return reader.all(sql`
    select ${COLUMNS} from webhook_outbox where ${wanted} order by seq desc limit ${limit} offset ${offset}`);
}

export function findDelivery(
  reader: Reader,
  delivery_id: string,
  visibility?: Visibility,
): Promise<Delivery | undefined> {
  return reader.get(sql`select ${COLUMNS} from webhook_outbox where ${isOne(delivery_id, visibility)}`);
}

/** The tries of a delivery, the first one first. */
export function attemptsOf(reader: Reader, delivery_id: string): Promise<DeliveryAttempt[]> {
  return reader.all(sql`
    select attempt, started_at, duration_ms, status_code, error, answer from webhook_attempts
    where delivery_id = ${delivery_id} order by attempt`);
}

/** Makes a delivery due now, with the same id and as much time as a new one. False when there is none. */
export async function redeliver(db: Db, delivery_id: string, visibility?: Visibility): Promise<boolean> {
  const changed = await db.run(sql`
    update webhook_outbox set status = 'pending', tries = 0, token = null, next_at = ${NOW}, round_at = ${NOW},
      ended_at = null
    where ${isOne(delivery_id, visibility)}`);
  return changed > 0;
}

function isOne(delivery_id: string, visibility: Visibility | undefined): Sql {
  return all([sql`delivery_id = ${delivery_id}`, visible(VISIBLE_DELIVERIES, visibility)]);
}

/** Forgets deliveries that ended so long ago, `limit` of them at most; how many. */
export function dropEndedDeliveries(db: Db, keep_ms: number, limit: number): Promise<number> {
  return db.run(
    sql`delete from webhook_outbox where seq in (
      select seq from webhook_outbox where ended_at <= ${nowPlus(-keep_ms)} order by ended_at limit ${limit})`,
    'relaxed',
  );
}

/** How much waits and how much was given up. */
export async function outboxFigures(reader: Reader): Promise<{ pending: number; dead: number }> {
  const count = (status: string) => sql`(select count(*) from webhook_outbox where status = ${status})`;
  const row = await reader.get<{ pending: number; dead: number }>(
    sql`select ${count('pending')} as pending, ${count('dead')} as dead`,
  );
  return { pending: Number(row?.pending ?? 0), dead: Number(row?.dead ?? 0) };
}

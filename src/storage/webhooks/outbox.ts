import { bind } from '../../db/bind.ts';
import { columns, nullable, number, text } from '../../db/columns.ts';
import type { Db, Reader } from '../../db/db.ts';
import { and, type Sql, sql } from '../../db/sql.ts';
import { NOW, nowPlus } from '../../db/time.ts';
import type { Delivery, DeliveryAttempt, DeliverySearch } from '../../schemas/webhooks.ts';
import { VISIBLE_DELIVERIES, type Visibility, visible } from '../access/visibility.ts';
import { ackDelivery, releaseAllDeliveries, releaseDelivery, releaseLostDeliveries } from './ack.ts';
import { claimDeliveries, pendingHosts } from './claim.ts';
import { UNCLAIMED } from './claimed.ts';
import { decryptAttempt, decryptDelivery, decryptShownUrl } from './delivery-row.ts';
import { enqueueDelivery, type NewDelivery } from './enqueue.ts';
import { deliveryPosition } from './position.ts';

export type WebhookOutbox = ReturnType<typeof webhookOutbox>;

/** The outbox of webhook deliveries. */
export function webhookOutbox(db: Db) {
  return {
    /** For a delivery that belongs to no other transaction. */
    enqueue: (delivery: NewDelivery) => db.transaction('sync', (tx) => enqueueDelivery(tx, delivery)),
    ...bind(db, {
      pendingHosts,
      claim: claimDeliveries,
      ack: ackDelivery,
      release: releaseDelivery,
      releaseAll: releaseAllDeliveries,
      releaseLost: releaseLostDeliveries,
      search: searchDeliveries,
      get: findDelivery,
      attemptsOf,
      contentOf,
      position: deliveryPosition,
      redeliver,
      deleteEnded: deleteEndedDeliveries,
      stats: outboxStats,
    }),
  };
}

const COLUMNS = sql`${columns(
  'webhook_outbox',
  'delivery_id, kind, run_id, thread_id, shown_url as url, status, tries, created_at, ended_at',
)}, case when status = 'pending' then next_at end as ${nullable(text('next_try_at'))}`;

/** Newest first. Without a visibility, every delivery is visible. */
async function searchDeliveries(
  reader: Reader,
  search: DeliverySearch,
  visibility?: Visibility,
): Promise<Delivery[]> {
  const { url, limit, offset } = search;
  const wanted = and([visible(VISIBLE_DELIVERIES, visibility), ...conditions(search)]);
  if (url !== undefined && reader.cipher.enabled)
    return searchDecrypted(reader, wanted, { url, limit, offset });
  // Matches the masked URL, so that a secret cannot be guessed letter by letter.
  const ofUrl = url === undefined ? undefined : sql`substr(shown_url, 1, length(${url})) = ${url}`;
  const rows = await reader.all(sql`
    select ${COLUMNS} from webhook_outbox where ${and([wanted, ofUrl])}
    order by seq desc limit ${limit} offset ${offset}`);
  return rows.map((row) => decryptShownUrl(reader.cipher, row));
}

function conditions({ run_id, status }: DeliverySearch): (Sql | undefined)[] {
  return [
    run_id === undefined ? undefined : sql`run_id = ${run_id}`,
    status === undefined ? undefined : sql`status = ${status}`,
  ];
}

/** Deliveries decrypted and compared per query. */
const BATCH = 500;

/** Search by URL on encrypted rows: keyset pagination over `seq`, with the comparison after decryption. */
async function searchDecrypted(
  reader: Reader,
  wanted: Sql,
  { url, limit, offset }: { url: string; limit: number; offset: number },
): Promise<Delivery[]> {
  const found: Delivery[] = [];
  let rest = wanted;
  for (;;) {
    const rows = await reader.all(sql`
      select ${columns('webhook_outbox', 'seq')}, ${COLUMNS} from webhook_outbox
      where ${rest} order by seq desc limit ${BATCH}`);
    for (const { seq, ...row } of rows) {
      if (decryptShownUrl(reader.cipher, row).url.startsWith(url)) found.push(row);
      rest = sql`${wanted} and seq < ${seq}`;
    }
    if (rows.length < BATCH || found.length >= offset + limit) return found.slice(offset, offset + limit);
  }
}

async function findDelivery(
  reader: Reader,
  delivery_id: string,
  visibility?: Visibility,
): Promise<Delivery | undefined> {
  const row = await reader.get(
    sql`select ${COLUMNS} from webhook_outbox where ${isDelivery(delivery_id, visibility)}`,
  );
  return row && decryptShownUrl(reader.cipher, row);
}

const ATTEMPT = columns(
  'webhook_attempts',
  'attempt, started_at, duration_ms, status_code, error, answer, answer_headers',
);

/** Attempts of a delivery, oldest first. */
async function attemptsOf(reader: Reader, delivery_id: string): Promise<DeliveryAttempt[]> {
  const rows = await reader.all(sql`
    select ${ATTEMPT} from webhook_attempts
    where delivery_id = ${delivery_id} order by attempt`);
  return rows.map((row) => decryptAttempt(reader.cipher, row));
}

/** What a delivery sends, with its secrets. */
async function contentOf(reader: Reader, delivery_id: string) {
  const row = await reader.get(sql`
    select ${columns('webhook_outbox', 'url, shown_url, headers, body')} from webhook_outbox
    where delivery_id = ${delivery_id}`);
  return row && decryptDelivery(reader.cipher, row);
}

/** Makes a delivery due now, with the same id and a new retry period. Returns false if it does not exist. */
async function redeliver(db: Db, delivery_id: string, visibility?: Visibility): Promise<boolean> {
  const changed = await db.run(sql`
    update webhook_outbox set status = 'pending', tries = 0, ${UNCLAIMED}, next_at = ${NOW}, round_at = ${NOW},
      ended_at = null
    where ${isDelivery(delivery_id, visibility)}`);
  return changed > 0;
}

function isDelivery(delivery_id: string, visibility: Visibility | undefined): Sql {
  return and([sql`delivery_id = ${delivery_id}`, visible(VISIBLE_DELIVERIES, visibility)]);
}

/** Deletes deliveries that ended at least `retention_ms` ago, at most `limit`; returns how many. */
function deleteEndedDeliveries(db: Db, retention_ms: number, limit: number): Promise<number> {
  return db.run(
    sql`delete from webhook_outbox where seq in (
      select seq from webhook_outbox where ended_at <= ${nowPlus(-retention_ms)} order by ended_at limit ${limit})`,
    'async',
  );
}

/** Deliveries are counted up to this number plus one: a receiver that is away for days must not slow each scrape down. */
const COUNTED = 10_000;

export interface OutboxStats {
  /** At most `COUNTED` + 1, which stands for more. */
  readonly pending: number;
  /** The same. */
  readonly dead: number;
  /** Age of the oldest pending delivery since it was created, seconds; null if none is. */
  readonly oldest_pending_secs: number | null;
}

/**
 * The deliveries of a status, oldest first, from the index on status and number. With `status = …` PostgreSQL may prefer
 * to pass over all older deliveries of another status: 200 ms with 100,000 dead ones.
 */
function inOrder(status: string): Sql {
  return sql`webhook_outbox where status between ${status} and ${status} order by status, seq`;
}

/** Number of pending and of dead deliveries, and the age of the oldest one, at constant cost. */
async function outboxStats(reader: Reader): Promise<OutboxStats> {
  const count = (status: string) =>
    sql`(select count(*) from (select 1 from ${inOrder(status)} limit ${COUNTED + 1}) as first)`;
  const row = await reader.get(sql`
    select ${count('pending')} as ${number('pending')}, ${count('dead')} as ${number('dead')}, ${NOW} as ${text('now')},
      (select created_at from ${inOrder('pending')} limit 1) as ${nullable(text('oldest'))}`);
  if (!row) return { pending: 0, dead: 0, oldest_pending_secs: null };
  const { now, oldest, ...counts } = row;
  const age_ms = oldest === null ? null : Math.max(0, Date.parse(now) - Date.parse(oldest));
  return { ...counts, oldest_pending_secs: age_ms === null ? null : age_ms / 1000 };
}

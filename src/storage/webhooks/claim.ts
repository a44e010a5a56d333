import { columns, nullable, text } from '../../db/columns.ts';
import type { Db, Reader } from '../../db/db.ts';
import { type Cipher, DecryptionError } from '../../db/encryption/cipher.ts';
import { type DialectSql, type RowOf, raw, sql } from '../../db/sql.ts';
import { NOW, nowPlus } from '../../db/time.ts';
import { decryptDelivery } from './delivery-row.ts';
import type { DeliveryKind } from './enqueue.ts';
import { assistantIn } from './run-ended.ts';

/** A receiver with pending deliveries. */
export interface PendingHost {
  readonly host: string;
  /** Time until its next delivery is due, ms; 0 if one is due. */
  readonly due_in_ms: number;
}

/** Lease on some deliveries for one attempt each; if it expires first, another process may claim them. */
export interface DeliveryClaim {
  readonly host: string;
  /** Fencing token, fresh for each claim: only its holder can acknowledge. */
  readonly token: string;
  /** The process that claims, and holds its lease: without it, others release its claims. */
  readonly worker_id: string;
  readonly limit: number;
  /** Longer than an attempt takes, ms. */
  readonly lease_ms: number;
}

export interface ClaimedDelivery {
  readonly delivery_id: string;
  readonly kind: DeliveryKind;
  readonly run_id: string | null;
  readonly thread_id: string | null;
  /** Of the run, if it is known. */
  readonly assistant_id: string | null;
  readonly url: string;
  readonly shown_url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly sent_at_field: string | null;
  readonly max_tries: number | null;
  /** Attempts including this one, since it was enqueued or redelivered. */
  readonly tries: number;
  readonly body: string;
  /** Set if the delivery cannot be decrypted here: its content is unknown. */
  readonly decryption_error?: DecryptionError;
}

/** Without statistics SQLite prefers the index of statuses, and reads all pending deliveries for each host. */
const OUTBOX: DialectSql = {
  sqlite: raw('webhook_outbox o indexed by webhook_outbox_due'),
  postgres: raw('webhook_outbox o'),
};

/**
 * Every host with pending deliveries, the longest due first. A loose index scan from one host to the next: a receiver
 * that is down with a hundred thousand of them costs as much as one with a single one.
 */
export async function pendingHosts(reader: Reader): Promise<PendingHost[]> {
  const rows = await reader.all(sql`
    with recursive hosts(host) as (
      select min(o.host) from ${OUTBOX} where o.status = 'pending'
      union all
      select (select min(o.host) from ${OUTBOX} where o.status = 'pending' and o.host > hosts.host)
      from hosts where hosts.host is not null
    )
    select ${text('host')}, ${NOW} as ${text('now')},
      (select min(o.next_at) from ${OUTBOX} where o.status = 'pending' and o.host = hosts.host
      ) as ${text('next_at')}
    from hosts where host is not null order by 3`);
  return rows.map(({ host, next_at, now }) => ({
    host,
    due_in_ms: Math.max(0, Date.parse(next_at) - Date.parse(now)),
  }));
}

const DELIVERY = columns(
  'webhook_outbox',
  'delivery_id, kind, run_id, thread_id, url, shown_url, headers, sent_at_field, max_tries, tries, body',
);
const CLAIMED = sql`${DELIVERY},
  (select r.assistant_id from runs r where r.run_id = webhook_outbox.run_id) as ${nullable(text('assistant_id'))}`;

/** Skips rows that another process is claiming. */
const SKIP_LOCKED: DialectSql = { sqlite: raw(''), postgres: raw('for update of o skip locked') };

/**
 * Claims due deliveries of one host, the longest due first, and only the first of each lane. Materialised CTE, as in
 * the claim of runs: otherwise the limit may not hold.
 */
export async function claimDeliveries(db: Db, claim: DeliveryClaim): Promise<ClaimedDelivery[]> {
  const { host, token, worker_id, limit, lease_ms } = claim;
  const rows = await db.transaction('async', (tx) =>
    tx.all(sql`
      with due as materialized (
        select o.seq from webhook_outbox o
        where o.status = 'pending' and o.host = ${host} and o.next_at <= ${NOW} and (o.lane is null or not exists (
          select 1 from webhook_outbox e where e.status = 'pending' and e.lane = o.lane and e.seq < o.seq))
        order by o.next_at, o.seq limit ${limit} ${SKIP_LOCKED}
      )
      update webhook_outbox set token = ${token}, worker_id = ${worker_id},
        tries = tries + 1, next_at = ${nowPlus(lease_ms)}
      from due where webhook_outbox.seq = due.seq
      returning ${CLAIMED}`),
  );
  return rows.map((row) => decryptClaimed(db.cipher, row));
}

/** A delivery that cannot be decrypted must not block the others (head-of-line blocking). */
function decryptClaimed(cipher: Cipher, row: RowOf<typeof CLAIMED>): ClaimedDelivery {
  try {
    const delivery = decryptDelivery(cipher, row);
    // A run without a thread is gone, but its webhook has it.
    return { ...delivery, assistant_id: delivery.assistant_id ?? assistantIn(delivery.body) };
  } catch (error) {
    if (!(error instanceof DecryptionError)) throw error;
    return { ...row, url: '', shown_url: '', headers: {}, body: '', decryption_error: error };
  }
}

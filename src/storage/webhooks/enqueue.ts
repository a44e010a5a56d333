import { toJson } from '../../core/json.ts';
import { maskUrl } from '../../core/redact.ts';
import { columns } from '../../db/columns.ts';
import type { Transaction } from '../../db/db.ts';
import { type RowOf, sql } from '../../db/sql.ts';
import { NOW } from '../../db/time.ts';
import { encryptDelivery } from './delivery-row.ts';

/** Subject of a delivery: the end of a run, or a test of a receiver. Other senders add their own. */
export type DeliveryKind = 'run' | 'test' | (string & {});

/** A POST to a URL; the caller must have checked the URL against the policy. */
export interface NewDelivery {
  readonly kind: DeliveryKind;
  /** Absolute, or the path of a route of the server's own app. */
  readonly url: string;
  /** JSON text, sent verbatim. */
  readonly body: string;
  /** Name of a member added to the body, an object, at each attempt: the time of sending. */
  readonly sent_at_field?: string;
  /** In addition to those of the configuration and the signature. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly run_id?: string;
  readonly thread_id?: string;
  /** Metadata of the thread concerned: decides who may see the delivery, even once the thread is gone. */
  readonly metadata?: Readonly<Record<string, unknown>>;
  /** Deliveries of one lane are sent one at a time, in order. */
  readonly lane?: string;
  /** Given up after this many attempts; without it, when its time is up. */
  readonly max_tries?: number;
}

const DELIVERY_ID = columns('webhook_outbox', 'delivery_id');

/**
 * Transactional outbox: adds a delivery in the transaction that it reports, so that it is sent if and only if that
 * commits. Returns its id, which the receiver gets as `webhook-id` with each attempt. Notify the dispatcher afterwards:
 * `bus.emit('delivery.queued')`.
 */
export async function enqueueDelivery(tx: Transaction, delivery: NewDelivery): Promise<string> {
  const { kind, url, headers = {}, metadata = {} } = delivery;
  const encrypted = encryptDelivery(tx.cipher, {
    url,
    shown_url: maskUrl(url),
    headers,
    body: delivery.body,
  });
  const row = await tx.get(sql`
    insert into webhook_outbox (kind, run_id, thread_id, metadata, url, shown_url, host, headers, sent_at_field, lane,
      max_tries, status, next_at, created_at, round_at, body)
    values (${kind}, ${delivery.run_id ?? null}, ${delivery.thread_id ?? null}, ${toJson(metadata)}, ${encrypted.url},
      ${encrypted.shown_url}, ${hostOf(url)}, ${encrypted.headers}, ${delivery.sent_at_field ?? null}, ${delivery.lane ?? null},
      ${delivery.max_tries ?? null}, 'pending', ${NOW}, ${NOW}, ${NOW}, ${encrypted.body})
    returning ${DELIVERY_ID}`);
  return (row as RowOf<typeof DELIVERY_ID>).delivery_id;
}

/** Host and port: the unit that can be down on its own. Empty for the server itself. */
function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).host : '';
}

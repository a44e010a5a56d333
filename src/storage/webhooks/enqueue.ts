import { toJson } from '../../core/json.ts';
import { maskUrl } from '../../core/redact.ts';
import type { Transaction } from '../../db/db.ts';
import { sql } from '../../db/sql.ts';
import { NOW } from '../../db/time.ts';
import { encryptDelivery } from './delivery-row.ts';

/** What a delivery is about: the end of a run, or a try of somebody who sets up a receiver. Other senders add theirs. */
export type DeliveryKind = 'run' | 'test' | (string & {});

/** Something to be posted to an address; the policy must have let the address pass. */
export interface NewDelivery {
  readonly kind: DeliveryKind;
  /** Absolute, or the path of a route of the server's own app. */
  readonly url: string;
  /** JSON text, sent as it is. */
  readonly body: string;
  /** The name of a member that the body, an object, gets with each try: when it was sent. */
  readonly sent_at_field?: string;
  /** Beside those of the configuration and the signature. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly run_id?: string;
  readonly thread_id?: string;
  /** Of the thread that it tells of: who may see that may see the delivery, also once the thread is gone. */
  readonly metadata?: Readonly<Record<string, unknown>>;
  /** Deliveries of one lane are sent one after the other, in the order in which they came. */
  readonly lane?: string;
  /** Given up after that many tries; else when its time is over. */
  readonly max_tries?: number;
}

/**
 * Puts a delivery into the outbox as part of the transaction that makes it true, so that it is sent if and only if
 * that was committed. Returns its id, which the receiver gets as `webhook-id` with each try. Poke the dispatcher
 * afterwards: `bus.outbox()`.
 */
export async function enqueueDelivery(tx: Transaction, delivery: NewDelivery): Promise<string> {
  const { kind, url, headers = {}, metadata = {} } = delivery;
  const sealed = encryptDelivery(tx.cipher, { url, shown_url: maskUrl(url), headers, body: delivery.body });
  const row = await tx.get<{ delivery_id: string }>(sql`
    insert into webhook_outbox (kind, run_id, thread_id, metadata, url, shown_url, host, headers, sent_at_field, lane,
      max_tries, status, next_at, created_at, round_at, body)
    values (${kind}, ${delivery.run_id ?? null}, ${delivery.thread_id ?? null}, ${toJson(metadata)}, ${sealed.url},
      ${sealed.shown_url}, ${hostOf(url)}, ${sealed.headers}, ${delivery.sent_at_field ?? null}, ${delivery.lane ?? null},
      ${delivery.max_tries ?? null}, 'pending', ${NOW}, ${NOW}, ${NOW}, ${sealed.body})
    returning delivery_id`);
  return (row as { delivery_id: string }).delivery_id;
}

/** Host and port: what may be down on its own. Empty for the server itself. */
function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).host : '';
}

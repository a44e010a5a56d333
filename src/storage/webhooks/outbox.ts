import type { DeliverySearch } from '../../schemas/webhooks.ts';
import type { Db } from '../db.ts';
import type { Visibility } from '../visibility.ts';
import { claimDeliveries, type DeliveryClaim, waitingHosts } from './claim.ts';
import {
  attemptsOf,
  dropEndedDeliveries,
  findDelivery,
  outboxFigures,
  redeliver,
  searchDeliveries,
} from './deliveries.ts';
import { enqueueDelivery, type NewDelivery } from './enqueue.ts';
import {
  type DeliveryTry,
  releaseAllDeliveries,
  releaseDeliveries,
  settleDelivery,
  type Verdict,
} from './settle.ts';

export type WebhookOutbox = ReturnType<typeof webhookOutbox>;

/** What is to be sent to others: each verb in the file of its name. */
export function webhookOutbox(db: Db) {
  return {
    /** For what is not part of another transaction. */
    enqueue: (delivery: NewDelivery) => db.transaction('promised', (tx) => enqueueDelivery(tx, delivery)),
    waitingHosts: () => waitingHosts(db),
    claim: (request: DeliveryClaim) => claimDeliveries(db, request),
    settle: (claimed: { delivery_id: string; token: string }, attempt: DeliveryTry, verdict: Verdict) =>
      settleDelivery(db, claimed, attempt, verdict),
    release: (token: string) => releaseDeliveries(db, token),
    releaseAll: () => releaseAllDeliveries(db),
    search: (search: DeliverySearch, visibility?: Visibility) => searchDeliveries(db, search, visibility),
    get: (delivery_id: string, visibility?: Visibility) => findDelivery(db, delivery_id, visibility),
    attemptsOf: (delivery_id: string) => attemptsOf(db, delivery_id),
    redeliver: (delivery_id: string, visibility?: Visibility) => redeliver(db, delivery_id, visibility),
    dropEnded: (keep_ms: number, limit: number) => dropEndedDeliveries(db, keep_ms, limit),
    figures: () => outboxFigures(db),
  };
}

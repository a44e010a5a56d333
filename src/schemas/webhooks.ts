import { z } from 'zod';
import { QueryLimit, QueryOffset, Timestamp, Uuid } from './fields.ts';

const DeliveryStatus = z.enum(['pending', 'delivered', 'dead']);

/** Something that is sent to an address, once or, until it arrives, often. */
export const Delivery = z.object({
  /** What the receiver gets as `webhook-id` with each try. */
  delivery_id: Uuid,
  /** `run`: the end of a run; `a2a`: a change of a task; `test`: asked for by `POST /webhooks/test`. */
  kind: z.string(),
  run_id: Uuid.nullable(),
  thread_id: Uuid.nullable(),
  /** Without secrets: what looks like one is shown as `***`. */
  url: z.string(),
  /** `dead`: given up. It can be sent again. */
  status: DeliveryStatus,
  /** Since it was made, or sent again by hand. */
  tries: z.int(),
  /** Null when no more are to come. */
  next_try_at: Timestamp.nullable(),
  created_at: Timestamp,
  ended_at: Timestamp.nullable(),
});
export type Delivery = z.infer<typeof Delivery>;

export const DeliveryAttempt = z.object({
  attempt: z.int(),
  started_at: Timestamp,
  duration_ms: z.int(),
  /** Null when there was no answer. */
  status_code: z.int().nullable(),
  /** What went wrong; null when nothing did. */
  error: z.string().nullable(),
  /** How the answer of a receiver that refused began. */
  answer: z.string().nullable(),
});
export type DeliveryAttempt = z.infer<typeof DeliveryAttempt>;

export const DeliveryDetail = Delivery.extend({ attempts: z.array(DeliveryAttempt) });
export type DeliveryDetail = z.infer<typeof DeliveryDetail>;

export const DeliverySearch = z.looseObject({
  run_id: Uuid.optional().meta({ description: 'Only deliveries of this run.' }),
  status: DeliveryStatus.optional().meta({ description: 'Only deliveries with this status.' }),
  url: z
    .string()
    .optional()
    .meta({ description: 'Only deliveries to URLs that begin with this, as shown in the list.' }),
  limit: QueryLimit.default(10).meta({ description: 'How many deliveries to return.' }),
  offset: QueryOffset.default(0).meta({ description: 'How many deliveries to skip.' }),
});
export type DeliverySearch = z.infer<typeof DeliverySearch>;

export const WebhookTest = z.looseObject({
  url: z.string().min(1).max(65536).describe('The URL to send to, as in `webhook` of a run.'),
});
export type WebhookTest = z.infer<typeof WebhookTest>;

import { z } from 'zod';
import { Text } from './bounds.ts';
import { QueryLimit, QueryOffset, Timestamp, Uuid } from './fields.ts';
import { nameRequests, nameResponses } from './named.ts';

const DeliveryStatus = z.enum(['pending', 'delivered', 'dead']);

/** A webhook delivery, retried until it succeeds or is dead. */
export const Delivery = z.object({
  /** Sent to the receiver as `webhook-id` with each attempt. */
  delivery_id: Uuid,
  /** `run`: end of a run; `a2a`: state change of a task; `test`: requested by `POST /webhooks/test`. */
  kind: z.string(),
  run_id: Uuid.nullable(),
  thread_id: Uuid.nullable(),
  /** Redacted: what looks like a secret is replaced by `***`. */
  url: z.string(),
  /** `dead`: given up (dead letter); can be redelivered. */
  status: DeliveryStatus,
  /** Attempts since its creation or last redelivery. */
  tries: z.int(),
  /** `null` if no retry is scheduled. */
  next_try_at: Timestamp.nullable(),
  created_at: Timestamp,
  ended_at: Timestamp.nullable(),
});
export type Delivery = z.infer<typeof Delivery>;

export const DeliveryAttempt = z.object({
  attempt: z.int(),
  started_at: Timestamp,
  duration_ms: z.int(),
  /** `null` without a response. */
  status_code: z.int().nullable(),
  /** Error message; `null` on success. */
  error: z.string().nullable(),
  /** Beginning of the response of a receiver that rejected it. */
  answer: z.string().nullable(),
  /**
   * Headers of the response, with names in lower case and without secrets; up to 4 kB. `null` without a response, and of
   * attempts from before they were stored.
   */
  answer_headers: z.record(z.string(), z.string()).nullable(),
});
export type DeliveryAttempt = z.infer<typeof DeliveryAttempt>;

/** What is sent with each attempt, without known secrets. */
export const DeliveryRequest = z.object({
  /** Headers of this delivery, in addition to those of the configuration and the signature. Their values may be secrets. */
  header_names: z.array(z.string()),
  /** The beginning of the body: at most 65,536 characters. */
  body: z.string(),
  /** Length of the whole body, characters. */
  body_length: z.int(),
});
export type DeliveryRequest = z.infer<typeof DeliveryRequest>;

export const DeliveryDetail = Delivery.extend({
  request: DeliveryRequest,
  attempts: z.array(DeliveryAttempt),
});
export type DeliveryDetail = z.infer<typeof DeliveryDetail>;

export const DeliverySearch = z.object({
  run_id: Uuid.optional().meta({ description: 'Only deliveries of this run.' }),
  status: DeliveryStatus.optional().meta({ description: 'Only deliveries with this status.' }),
  url: Text.optional().meta({
    description: 'Only deliveries to URLs that begin with this, as shown in the list.',
  }),
  limit: QueryLimit.default(10).meta({ description: 'How many deliveries to return.' }),
  offset: QueryOffset.default(0).meta({ description: 'How many deliveries to skip.' }),
});
export type DeliverySearch = z.infer<typeof DeliverySearch>;

export const WebhookTest = z.object({
  url: z.string().min(1).max(65536).describe('The URL to send to, as in `webhook` of a run.'),
});
export type WebhookTest = z.infer<typeof WebhookTest>;

/** Explanation of a webhook delivery's status. */
export const DeliveryExplanation = Delivery.extend({
  /** Human-readable; the fields say the same. */
  summary: z.string(),
  /** An attempt is under way. */
  is_being_sent: z.boolean(),
  /** The delivery ahead of it: those of one A2A task are sent in order. */
  behind: Uuid.nullable(),
  /** When the server gives up unless it succeeds; `null` once it has ended. */
  gives_up_at: Timestamp.nullable(),
  /** Maximum number of attempts; `null` if only the time is limited. */
  max_tries: z.int().nullable(),
  /** The attempt with the receiver's answer; `null` before the first. */
  last_attempt: DeliveryAttempt.nullable(),
});
export type DeliveryExplanation = z.infer<typeof DeliveryExplanation>;

nameRequests({ WebhookTest });
nameResponses({ DeliveryExplanation, Delivery, DeliveryAttempt, DeliveryDetail, DeliveryRequest });

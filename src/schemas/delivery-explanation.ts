import { z } from 'zod';
import { Timestamp, Uuid } from './fields.ts';
import { Delivery, DeliveryAttempt } from './webhooks.ts';

/** Explanation of a webhook delivery's status. */
export const DeliveryExplanation = Delivery.extend({
  /** Human-readable; the fields say the same. */
  summary: z.string(),
  /** An attempt is under way. */
  is_being_sent: z.boolean(),
  /** The delivery that goes first, as those of one A2A task are sent in order. */
  behind: Uuid.nullable(),
  /** When it is given up unless it succeeds; `null` once it has ended. */
  gives_up_at: Timestamp.nullable(),
  /** Given up after this many attempts; `null`: when its time is over. */
  max_tries: z.int().nullable(),
  /** The attempt with the receiver's answer; `null` before the first. */
  last_attempt: DeliveryAttempt.nullable(),
});
export type DeliveryExplanation = z.infer<typeof DeliveryExplanation>;

import type { Actor } from '../../auth/actor.ts';
import { authorize } from '../../auth/authorize.ts';
import { NotFound } from '../../core/errors.ts';
import type { Delivery, DeliveryAttempt, DeliveryExplanation } from '../../schemas/webhooks.ts';
import type { WebhookOutbox } from '../../storage/webhooks/outbox.ts';
import type { DeliveryPosition } from '../../storage/webhooks/position.ts';

export interface DeliveryExplainDeps {
  readonly outbox: WebhookOutbox;
  /** `false` disables delivery (`http.disable_webhooks`). */
  readonly sends_webhooks: boolean;
  /** How long a delivery is retried, ms. */
  readonly give_up_ms: number;
}

export type DeliveryExplainService = ReturnType<typeof deliveryExplain>;

/** Explains why a webhook delivery has not arrived, as a sentence and as fields. */
export function deliveryExplain({ outbox, sends_webhooks, give_up_ms }: DeliveryExplainDeps) {
  return {
    /** Throws `NotFound` for a missing delivery and for one whose thread the actor may not read. */
    async explain(actor: Actor, delivery_id: string): Promise<DeliveryExplanation> {
      const visibility = await authorize(actor, 'threads:read', { delivery_id });
      const delivery = await outbox.get(delivery_id, visibility);
      const position = await outbox.position(delivery_id, give_up_ms);
      if (!delivery || !position) throw new NotFound(`Delivery ${delivery_id} not found`);
      const last_attempt = (await outbox.attemptsOf(delivery_id)).at(-1) ?? null;
      const isPending = delivery.status === 'pending';
      return {
        ...delivery,
        summary: isPending
          ? pendingSummary({ delivery, position, last_attempt, sends_webhooks })
          : endedSummary(delivery, position, last_attempt),
        is_being_sent: isPending && position.is_being_sent,
        behind: isPending ? position.behind : null,
        gives_up_at: isPending ? position.gives_up_at : null,
        max_tries: position.max_tries,
        last_attempt,
      };
    },
  };
}

interface Pending {
  readonly delivery: Delivery;
  readonly position: DeliveryPosition;
  readonly last_attempt: DeliveryAttempt | null;
  readonly sends_webhooks: boolean;
}

function pendingSummary({ delivery, position, last_attempt, sends_webhooks }: Pending): string {
  const before = last_attempt
    ? ` The last attempt, at ${last_attempt.started_at}, ${failureOf(last_attempt)}.`
    : '';
  if (!sends_webhooks)
    return `Not sent: this server sends no webhooks (http.disable_webhooks). It stays pending until a server does.${before}`;
  if (position.behind)
    return `Waits behind delivery ${position.behind} of the same task: a task's deliveries are sent in order.${before}`;
  if (position.is_being_sent)
    return `Attempt ${delivery.tries} is under way; another process repeats it if it has not ended by ${delivery.next_try_at}.${before}`;
  if (!position.is_due)
    return `Attempt ${delivery.tries + 1} is due at ${delivery.next_try_at}; the server gives up at ${position.gives_up_at}.${before}`;
  const others = position.n_due_of_host - 1;
  if (others > 0)
    return `Due, and waits for its turn: ${others} more ${others === 1 ? 'delivery' : 'deliveries'} to this receiver ${others === 1 ? 'is' : 'are'} due, of which a few are sent at a time, or one while it does not answer.${before}`;
  return `Due; the next process that polls the outbox sends it.${before}`;
}

function endedSummary(
  { status, ended_at, tries }: Delivery,
  { max_tries }: DeliveryPosition,
  last: DeliveryAttempt | null,
): string {
  const attempts = `${tries} ${tries === 1 ? 'attempt' : 'attempts'}`;
  if (status === 'delivered') return `Delivered at ${ended_at} after ${attempts}.`;
  const why = last ? `: the last one ${failureOf(last)}` : '';
  const rule = deadRule(last, tries, max_tries);
  return `Given up at ${ended_at} after ${attempts}${why}.${rule} POST to its /redeliver to send it again.`;
}

/** The rule that ended the attempts, if the last one shows it. */
function deadRule(last: DeliveryAttempt | null, tries: number, max_tries: number | null): string {
  if (max_tries !== null && tries >= max_tries)
    return ` It may be tried only ${max_tries === 1 ? 'once' : `${max_tries} times`}.`;
  const code = last?.status_code ?? null;
  const isFinal = code !== null && code < 500 && ![408, 425, 429].includes(code);
  return isFinal ? ' The receiver rejected it, and rejections are not retried.' : '';
}

function failureOf({ status_code, error, duration_ms }: DeliveryAttempt): string {
  if (status_code === null) return `failed after ${duration_ms} ms: ${error ?? 'no answer'}`;
  return error === null ? `was answered with ${status_code}` : `failed: ${error}`;
}

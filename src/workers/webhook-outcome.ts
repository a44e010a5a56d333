import { type Backoff, backoffMs, type RandomNumber } from '../core/backoff.ts';
import type { Clock } from '../core/clock.ts';
import { InvalidInput } from '../core/errors.ts';
import type { AttemptRecord, DeliveryDecision } from '../storage/webhooks/ack.ts';
import type { ClaimedDelivery } from '../storage/webhooks/claim.ts';
import { WebhookRefused, type WebhookResponse } from './webhook-request.ts';

export interface RetryRules {
  readonly backoff: Backoff;
  /** How long a delivery is retried after its creation or manual resend, ms. */
  readonly give_up_ms: number;
}

/** Outcome of a try as stored, and the decision that follows from it. */
export interface DeliveryOutcome
  extends Pick<AttemptRecord, 'status_code' | 'error' | 'answer' | 'answer_headers'> {
  readonly verdict: DeliveryDecision;
}

interface Context {
  readonly rules: RetryRules;
  readonly clock: Clock;
  readonly random: RandomNumber;
}

/** Transient statuses, besides 5xx; any other refusal is permanent. */
const TRANSIENT_STATUS = new Set([408, 425, 429]);

/** Requests that can never be sent, such as a header with a line break. */
const PERMANENT_CODES = new Set(['UND_ERR_INVALID_ARG', 'UND_ERR_NOT_SUPPORTED']);

const NO_ANSWER = { status_code: null, answer: null, answer_headers: null };

/** Outcome of a response of the receiver. */
export function outcomeOfResponse(
  answer: WebhookResponse,
  delivery: ClaimedDelivery,
  context: Context,
): DeliveryOutcome {
  const { status, headers: answer_headers, text, not_followed } = answer;
  if (status >= 200 && status < 300) {
    return {
      status_code: status,
      error: null,
      answer: null,
      answer_headers,
      verdict: { outcome: 'delivered' },
    };
  }
  const error = not_followed === undefined ? `answered ${status}` : `answered ${status}: ${not_followed}`;
  const verdict: DeliveryDecision =
    TRANSIENT_STATUS.has(status) || status >= 500
      ? retryOrGiveUp(delivery, context, retryAfterMs(answer.retry_after, context.clock))
      : { outcome: 'dead' };
  return { status_code: status, error, answer: text, answer_headers, verdict };
}

/** Retried: another server, or this one later, may have the key. */
export function outcomeOfUndecryptable(delivery: ClaimedDelivery, context: Context): DeliveryOutcome {
  const error = 'not sent: it cannot be decrypted; see the server log';
  return { ...NO_ANSWER, error, verdict: retryOrGiveUp(delivery, context, 0) };
}

/** No response: a network failure is retried, a refusal by the policy is permanent. */
export function outcomeOfFailure(
  failure: unknown,
  delivery: ClaimedDelivery,
  context: Context,
): DeliveryOutcome {
  const isRefused = failure instanceof WebhookRefused || failure instanceof InvalidInput;
  const code = codeOf(failure);
  return {
    ...NO_ANSWER,
    error: isRefused ? failure.message : `not reached: ${code}`,
    verdict:
      isRefused || PERMANENT_CODES.has(code) ? { outcome: 'dead' } : retryOrGiveUp(delivery, context, 0),
  };
}

function retryOrGiveUp(
  { tries, max_tries }: ClaimedDelivery,
  { rules, random }: Context,
  min_delay_ms: number,
): DeliveryDecision {
  if (max_tries !== null && tries >= max_tries) return { outcome: 'dead' };
  const in_ms = Math.max(min_delay_ms, backoffMs(tries, rules.backoff, random));
  return { outcome: 'retry', in_ms, give_up_ms: rules.give_up_ms };
}

/** Delay from a `Retry-After` header: seconds or a date; 0 if invalid or past. */
function retryAfterMs(header: string | undefined, clock: Clock): number {
  if (header === undefined) return 0;
  if (/^\s*\d{1,9}\s*$/.test(header)) return Number(header) * 1000;
  const at = Date.parse(header);
  return Number.isNaN(at) ? 0 : Math.max(0, at - clock.now());
}

/** A code such as ECONNREFUSED suffices; a message may disclose internal addresses. */
function codeOf(failure: unknown): string {
  if (!(failure instanceof Error)) return 'unknown failure';
  return 'code' in failure && typeof failure.code === 'string' ? failure.code : failure.name;
}

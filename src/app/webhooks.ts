import type { Config } from '../config/schema.ts';
import { systemRandom } from '../core/backoff.ts';
import { type WebhookPolicy, webhookPolicy } from '../services/webhooks/webhook-policy.ts';
import type { RunWebhookRules } from '../storage/webhooks/run-ended.ts';
import { webhookSender } from '../workers/webhook-request.ts';
import { type DispatchRules, WebhookDispatcher } from '../workers/webhooks.ts';
import type { AppContext } from './context.ts';
import { resolveClientHost } from './host-lookups.ts';

/** Which run webhooks to enqueue, and their content. */
export function runWebhookRules({ http, webhooks }: Config): RunWebhookRules {
  return { enabled: !http.disable_webhooks, stateless_values: webhooks.stateless_values };
}

export function wireWebhookPolicy({ http, webhooks: { url, https } }: Config): WebhookPolicy {
  return webhookPolicy({ ...url, https, has_own_routes: http.app !== undefined }, resolveClientHost);
}

/** Undefined if webhooks are disabled; pending deliveries then wait until they are enabled again. */
export function wireWebhookDispatcher({
  config,
  storage,
  webhooks: policy,
  postToCustomApp,
  ...context
}: AppContext): WebhookDispatcher | undefined {
  if (config.http.disable_webhooks) return undefined;
  const { delivery } = config.webhooks;
  const sender = webhookSender({
    policy,
    resolve: resolveClientHost,
    // undici rejects fractional milliseconds.
    timeout_ms: Math.round(delivery.timeout_seconds * 1000),
    connections: delivery.concurrency_per_host,
    ...(config.http.app === undefined ? {} : { postToApp: postToCustomApp }),
  });
  const rules = dispatchRules(config.webhooks);
  return new WebhookDispatcher({ ...context, outbox: storage.outbox, sender, random: systemRandom, rules });
}

/** Time for storage on top of the delivery timeout, ms. */
const LEASE_MARGIN_MS = 30_000;
/** Deliveries sent at the same time. */
const CONCURRENCY = 32;
/** Delay after the first failure of a delivery, doubled after each further one up to the longest. */
const BACKOFF = { first_ms: 1000, longest_ms: 3_600_000 };

function dispatchRules({ delivery, secret: secrets, headers = {} }: Config['webhooks']): DispatchRules {
  return {
    concurrency: CONCURRENCY,
    concurrency_per_host: delivery.concurrency_per_host,
    lease_ms: delivery.timeout_seconds * 1000 + LEASE_MARGIN_MS,
    backoff: BACKOFF,
    give_up_ms: delivery.give_up_hours * 3_600_000,
    secrets,
    headers,
  };
}

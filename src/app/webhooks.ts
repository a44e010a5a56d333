import { lookup } from 'node:dns/promises';
import type { Config } from '../config/schema.ts';
import { type Resolve, type WebhookPolicy, webhookPolicy } from '../services/webhook-policy.ts';
import type { RunWebhookRules } from '../storage/webhooks/run-ended.ts';

/** As everything on this machine resolves names, `/etc/hosts` included. */
export const resolveHost: Resolve = async (hostname) => {
  const found = await lookup(hostname, { all: true, verbatim: true });
  return found.map(({ address }) => address);
};

/** What the ends of runs tell. */
export function runWebhookRules({ http, webhooks }: Config): RunWebhookRules {
  return { enabled: !http.disable_webhooks, stateless_values: webhooks.stateless_values };
}

export function wirePolicy({ webhooks: { url, https } }: Config): WebhookPolicy {
  return webhookPolicy({ ...url, https, has_own_routes: false }, resolveHost);
}

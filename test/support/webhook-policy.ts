import {
  type ResolveHost,
  type WebhookRules,
  webhookPolicy,
} from '../../src/services/webhooks/webhook-policy.ts';

/** What a name service of the tests knows; any other name is at a public address. */
const NAMES: Readonly<Record<string, readonly string[]>> = {
  'intranet.example': ['10.1.2.3'],
  'both.example': ['10.1.2.3', '93.184.216.34'],
  'rebound.example': ['127.0.0.1'],
  'metadata.example': ['169.254.169.254'],
  localhost: ['::1', '127.0.0.1'],
};

const resolveName: ResolveHost = async (hostname) => {
  if (hostname === 'unknown.example') throw Object.assign(new Error('no such host'), { code: 'ENOTFOUND' });
  if (hostname === 'away.example') throw Object.assign(new Error('try again'), { code: 'EAI_AGAIN' });
  return NAMES[hostname] ?? ['93.184.216.34'];
};

/** The policy of a configuration without a `webhooks` block, but for what is given. */
export function policy(rules: Partial<WebhookRules> = {}, resolve: ResolveHost = resolveName) {
  return webhookPolicy(
    {
      https: 'never',
      allowed_domains: [],
      allowed_ports: [],
      max_url_length: 65_536,
      disable_loopback: true,
      allow_private: [],
      has_own_routes: false,
      ...rules,
    },
    resolve,
  );
}

import { expect, test } from 'vitest';
import { hostLookups } from '../../src/services/webhooks/host-lookups.ts';
import type { WebhookRules } from '../../src/services/webhooks/webhook-policy.ts';
import { policy } from '../support/webhook-policy.ts';

/** Undefined when the address is let pass, else why not. */
async function refusalOf(url: string, rules: Partial<WebhookRules> = {}): Promise<string | undefined> {
  return await policy(rules)
    .check(url)
    .then(
      () => undefined,
      (error: Error & { status?: number }) => (error.status === 422 ? error.message : `thrown: ${error}`),
    );
}

const LOOPBACK = /^Webhook host blocked: loopback IP range \(127\.0\.0\.1\).*disable_loopback: false/;
const BLOCKED = /^Webhook host blocked: blocked IP range/;
const PRIVATE = /^Webhook host blocked: private IP range.*allow_private/;
const LOCALHOST = /^Webhook host blocked: localhost address.*disable_loopback: false/;
const METADATA = /^Webhook host blocked: metadata address/;
const CHARACTERS = /contains white space, backslashes or control characters/;
const NO_HOST = /^Invalid webhook hostname ''$/;
const RELATIVE = /^Loopback webhooks \(relative URLs and localhost\) are disabled by default/;

test.each([
  // This machine, in every spelling of its address.
  ['http://127.0.0.1/', LOOPBACK],
  ['http://127.0.0.1:6379/', LOOPBACK],
  ['http://127.1/', LOOPBACK],
  ['http://2130706433/', LOOPBACK],
  ['http://017700000001/', LOOPBACK],
  ['http://0177.0.0.1/', LOOPBACK],
  ['http://0x7f000001/', LOOPBACK],
  ['http://0x7f.0.0.1/', LOOPBACK],
  ['http://127.0.0.1./', LOOPBACK],
  ['http://%31%32%37.0.0.1/', LOOPBACK],
  ['http://１２７.０.０.１/', LOOPBACK],
  ['http://user:pass@127.0.0.1/', LOOPBACK],
  ['http://example.com@127.0.0.1/', LOOPBACK],
  ['http://127.9.8.7/', /^Webhook host blocked: loopback IP range/],
  ['http://0.0.0.0/', BLOCKED],
  ['http://0/', BLOCKED],
  ['http://[::1]/', BLOCKED],
  ['http://[::]/', BLOCKED],
  ['http://[::ffff:127.0.0.1]/', /^Webhook host blocked: /],
  ['http://[::ffff:7f00:1]/', /^Webhook host blocked: /],
  ['http://[::127.0.0.1]/', BLOCKED],
  ['http://localhost/', LOCALHOST],
  ['http://LOCALHOST/', LOCALHOST],
  ['http://localhost./', LOCALHOST],
  ['http://a.localhost/', LOCALHOST],
  ['http://host.docker.internal/', LOCALHOST],
  ['http://ip6-localhost/', LOCALHOST],
  // Networks that are not public.
  ['http://10.0.0.5/', PRIVATE],
  ['http://172.16.0.1/', PRIVATE],
  ['http://192.168.1.1/', PRIVATE],
  ['http://100.64.0.1/', PRIVATE],
  ['http://167772165/', PRIVATE],
  ['http://[fd12:3456::1]/', PRIVATE],
  ['http://[::ffff:10.0.0.5]/', PRIVATE],
  ['http://[fe80::1]/', BLOCKED],
  ['http://[fec0::1]/', BLOCKED],
  ['http://[64:ff9b::7f00:1]/', BLOCKED],
  ['http://[64:ff9b:1::a00:5]/', BLOCKED],
  ['http://[2002:7f00:1::]/', BLOCKED],
  ['http://[2001:0:4136:e378::1]/', BLOCKED],
  ['http://[2001:db8::1]/', BLOCKED],
  ['http://[ff02::1]/', BLOCKED],
  ['http://224.0.0.1/', BLOCKED],
  ['http://255.255.255.255/', BLOCKED],
  ['http://240.0.0.1/', BLOCKED],
  ['http://192.0.2.1/', BLOCKED],
  ['http://198.18.0.1/', BLOCKED],
  // Where clouds keep the secrets of a machine.
  ['http://169.254.169.254/latest/meta-data/', BLOCKED],
  ['http://[fd00:ec2::254]/', BLOCKED],
  ['http://100.100.100.200/', BLOCKED],
  ['http://168.63.129.16/', BLOCKED],
  ['http://0xa9fea9fe/', BLOCKED],
  ['http://metadata.google.internal/', METADATA],
  ['http://metadata/', METADATA],
  // Names that lead there.
  ['http://intranet.example/', PRIVATE],
  ['http://rebound.example/', /^Webhook host blocked: loopback IP range \(rebound\.example\)/],
  ['http://metadata.example/', BLOCKED],
  ['http://unknown.example/', /^Webhook host blocked: DNS resolution failed$/],
  ['http://nowhere.invalid/', /^Webhook host blocked: DNS resolution failed$/],
  // What is no address, or not of this kind.
  ['ftp://example.com/', /^Webhook scheme 'ftp' not allowed$/],
  ['file:///etc/passwd', /^Webhook scheme 'file' not allowed$/],
  ['javascript:alert(1)', /^Webhook scheme 'javascript' not allowed$/],
  ['gopher://127.0.0.1:6379/_x', /^Webhook scheme 'gopher' not allowed$/],
  ['http://', NO_HOST],
  ['http:///', NO_HOST],
  ['http:///127.0.0.1/', NO_HOST],
  ['http:127.0.0.1/', NO_HOST],
  ['http://./', NO_HOST],
  ['http://exa mple.com/', CHARACTERS],
  ['http:\\\\127.0.0.1\\', CHARACTERS],
  ['http://example.com\\@127.0.0.1/', CHARACTERS],
  ['ht\ntp://127.0.0.1/', CHARACTERS],
  ['http://example.com:99999/', /^Invalid webhook URL$/],
  ['http://[::1/', /^Invalid webhook URL$/],
  ['http://256.256.256.256/', /^Invalid webhook URL$/],
  ['//127.0.0.1/', /^Webhook must be an absolute URL/],
  ['/\\127.0.0.1/', CHARACTERS],
  ['example.com/hook', /^Webhook must be an absolute URL/],
  ['/own/route', RELATIVE],
])('webhook URL %s is refused', async (url, reason) => {
  expect(await refusalOf(url)).toMatch(reason);
});

test.each([
  'http://example.com/hook',
  'https://example.com:8443/hook?token=abc#x',
  'https://user:pass@example.com/',
  'https://93.184.216.34/',
  'https://[2606:2800:220:1::1]/',
  'https://both.example/',
  // The name service does not answer now; the address is checked again when it is called.
  'https://away.example/',
])('webhook URL %s is allowed', async (url) => {
  expect(await refusalOf(url)).toBeUndefined();
});

test.each<[string, string, Partial<WebhookRules>]>([
  ['http://example.com/', 'Webhook must use https', { https: 'always' }],
  ['http://example.com/', 'Webhook must use https', { https: 'unless opened' }],
  ['http://127.0.0.1/', 'Webhook must use https', { https: 'always', disable_loopback: false }],
  [
    'https://example.com/',
    "Webhook domain 'example.com' not allowed",
    { allowed_domains: ['*.example.com'] },
  ],
  [
    'https://a.example.com/',
    "Webhook domain 'a.example.com' not allowed",
    { allowed_domains: ['example.com'] },
  ],
  ['https://notexample.com/', "Webhook domain 'notexample.com'", { allowed_domains: ['*.example.com'] }],
  ['https://example.com:444/', 'Webhook port 444 not allowed', { allowed_ports: [443] }],
  ['http://example.com/', 'Webhook port 80 not allowed', { allowed_ports: [443] }],
  ['https://example.com/long', 'Webhook URL is longer than 20 characters', { max_url_length: 20 }],
  ['/own/route', 'the server has no custom routes', { disable_loopback: false }],
  ['http://[::1]/', 'Webhook host blocked: blocked IP range', { disable_loopback: false }],
  ['http://0.0.0.0/', 'Webhook host blocked: blocked IP range', { disable_loopback: false }],
  ['http://10.2.0.1/', 'Webhook host blocked: private IP range', { allow_private: ['10.1.0.0/16'] }],
  // A name opens what is private, never what clouds keep behind it.
  [
    'http://metadata.example/',
    'Webhook host blocked: blocked IP range',
    { allow_private: ['metadata.example'] },
  ],
])('webhook URL %s is refused: %s', async (url, reason, rules) => {
  expect(await refusalOf(url, rules)).toContain(reason);
});

test.each<[string, Partial<WebhookRules>]>([
  ['http://127.0.0.1:9000/', { disable_loopback: false }],
  ['http://127.0.0.1:9000/', { https: 'unless opened', disable_loopback: false }],
  ['http://localhost:9000/', { https: 'unless opened', disable_loopback: false }],
  ['/own/route', { disable_loopback: false, has_own_routes: true }],
  ['http://10.1.2.3/', { allow_private: ['10.1.0.0/16'] }],
  ['http://[::ffff:10.1.2.3]/', { allow_private: ['10.1.0.0/16'] }],
  ['http://[::1]/', { allow_private: ['::1'] }],
  ['http://intranet.example/', { https: 'unless opened', allow_private: ['intranet.example'] }],
  ['http://intranet.example/', { allow_private: ['*.example'] }],
  ['http://169.254.169.254/', { allow_private: ['169.254.169.254'] }],
  ['https://a.example.com/', { https: 'always', allowed_domains: ['*.example.com'], allowed_ports: [443] }],
])('webhook URL %s is allowed with %j', async (url, rules) => {
  expect(await refusalOf(url, rules)).toBeUndefined();
});

test('a name server that never answers delays a run with a webhook only for a limited time', async () => {
  await policy(
    {},
    hostLookups({
      local: async () => undefined,
      searchDomains: async () => [],
      query: () => new Promise(() => {}),
    }),
  ).check('https://slow.example/');
});

test('a webhook is refused when it is sent if its host name has come to resolve to a forbidden address', () => {
  const { blockedReason: refusal } = policy({ allow_private: ['intranet.example'] });
  expect(refusal('example.com', '127.0.0.1')).toMatch(/loopback IP range \(example\.com\)/);
  expect(refusal('example.com', '93.184.216.34')).toBeUndefined();
  expect(refusal('intranet.example', '10.1.2.3')).toBeUndefined();
  expect(refusal('intranet.example', '169.254.169.254')).toMatch(/blocked IP range/);
  expect(refusal('example.com', 'nonsense')).toMatch(/blocked IP range/);
});

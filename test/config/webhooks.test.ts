import { expect, test } from 'vitest';
import { load, problemsOf } from '../support/config.ts';

const GRAPHS = 'graphs: { a: ./a.ts:graph }\n';
const variable = (name: string) => `\${{ env.${name} }}`;
const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';

test('by default webhooks may call plain http, but not this machine', async () => {
  const { config } = await load(GRAPHS);
  expect(config.webhooks).toMatchObject({
    https: 'never',
    secret: [],
    url: { disable_loopback: true, allow_private: [], max_url_length: 65_536 },
    delivery: { give_up_hours: 24 },
  });
});

test.each([
  ['webhooks: {}', 'unless opened'],
  ['webhooks: { url: { require_https: true } }', 'always'],
  ['webhooks: { url: { require_https: false } }', 'never'],
])('%s requires https for webhooks: %s', async (yaml, https) => {
  expect((await load(`${GRAPHS}${yaml}`)).config.webhooks.https).toBe(https);
});

test('LANGGRAPH_WEBHOOKS replaces the whole block', async () => {
  const environment = { LANGGRAPH_WEBHOOKS: '{"url":{"disable_loopback":false,"allowed_ports":[443,8443]}}' };
  const { config } = await load(`${GRAPHS}webhooks: { secret: ${SECRET} }`, { environment });
  expect(config.webhooks).toMatchObject({
    secret: [],
    url: { disable_loopback: false, allowed_ports: [443, 8443] },
  });
});

test('a webhook secret is a text, or a list while it is rotated', async () => {
  expect((await load(`${GRAPHS}webhooks: { secret: ${SECRET} }`)).config.webhooks.secret).toEqual([SECRET]);
  const both = await load(`${GRAPHS}webhooks: { secret: ["\${NEW}", ${SECRET}] }`, {
    environment: { NEW: SECRET },
  });
  expect(both.config.webhooks.secret).toEqual([SECRET, SECRET]);
});

test('webhook headers take variables with the configured prefix', async () => {
  const yaml = `${GRAPHS}webhooks: { headers: { authorization: "Bearer \${{ env.LG_WEBHOOK_TOKEN }}", x-a: b } }`;
  const { config } = await load(yaml, { environment: { LG_WEBHOOK_TOKEN: 't' } });
  expect(config.webhooks.headers).toEqual({ authorization: 'Bearer t', 'x-a': 'b' });
});

test('webhook headers take variables of the env key, with another prefix', async () => {
  const yaml = `${GRAPHS}env: { HOOK_TOKEN: t }\nwebhooks: { env_prefix: HOOK_, headers: { x: "\${{env.HOOK_TOKEN}}" } }`;
  expect((await load(yaml)).config.webhooks.headers).toEqual({ x: 't' });
});

test.each([
  [
    `headers: { x: "${variable('LG_WEBHOOK_X')}" }`,
    'webhooks.headers.x: the variable LG_WEBHOOK_X is not set',
  ],
  [
    `headers: { x: "${variable('DATABASE_URI')}" }`,
    'webhooks.headers.x: DATABASE_URI must begin with LG_WEBHOOK_ (webhooks.env_prefix)',
  ],
  ['headers: { "a b": c }', 'webhooks.headers.a b: must be a header name'],
  [
    'headers: { content-length: "1" }',
    'webhooks.headers.content-length: must not be a hop-by-hop header, such as Connection or Host',
  ],
  ['headers: { x: "a\\nb" }', 'webhooks.headers.x: must be one line'],
  ['secret: hunter2', 'webhooks.secret.0: must be whsec_ and at least 24 random bytes in base64'],
  ['url: { allow_private: ["http://intranet"] }', 'webhooks.url.allow_private.0: must be a network'],
  ['url: { allow_private: ["10.0.0.0/99"] }', 'webhooks.url.allow_private.0: must be a network'],
  ['url: { allowed_domain: [a] }', 'did you mean webhooks.url.allowed_domains?'],
])('%s is refused', async (block, problem) => {
  const [line, ...more] = await problemsOf(`${GRAPHS}webhooks: { ${block} }`, {
    environment: { DATABASE_URI: 'sqlite:x.db' },
  });
  expect(line).toContain(problem);
  expect(line).not.toContain('hunter2');
  expect(more).toEqual([]);
});

import { expect, test } from 'vitest';
import { postgresSchema, TEST_POSTGRES_URI } from '../support/databases.ts';
import { agentServer } from '../support/program.ts';
import { project } from '../support/project.ts';
import { receiver } from '../support/receiver.ts';
import { startServer } from '../support/server.ts';

/** Every secret begins like this, so that none is printed unseen. */
const secret = (what: string) => `hush-${what}-4f9d2c1e7a`;

const HEADERS = {
  'x-api-key': secret('key'),
  authorization: `Bearer ${secret('bearer')}`,
  cookie: `session=${secret('cookie')}`,
  'x-own-token': secret('header'),
};
/** 24 bytes that can be told in base64 as well. */
const SIGNING = `hush${'A'.repeat(28)}`;

const WEBHOOKS = {
  secret: [`whsec_${SIGNING}`],
  // biome-ignore lint/suspicious/noTemplateCurlyInString: the configuration's own form of variables.
  headers: { 'X-Hook': 'Bearer ${{ env.LG_WEBHOOK_TOKEN }}' },
  url: { disable_loopback: false, require_https: false },
};

test('the log of a server contains no secrets at any level', async () => {
  await using schema = TEST_POSTGRES_URI ? await postgresSchema(TEST_POSTGRES_URI) : undefined;
  await using hook = await receiver();
  hook.answers.push(500);
  await using server = await startServer({
    api_keys: [secret('key'), secret('other-key')],
    env: {
      LOG_LEVEL: 'debug',
      LANGGRAPH_WEBHOOKS: JSON.stringify(WEBHOOKS),
      LG_WEBHOOK_TOKEN: secret('environment'),
      OPENAI_API_KEY: secret('model'),
      ...(schema && { DATABASE_URI: withPassword(schema.url) }),
    },
  });
  const send = async (method: string, path: string, body?: unknown, headers = HEADERS) => {
    const sent = { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) };
    const answer = await fetch(server.url + path, sent);
    await answer.text();
    return answer.status;
  };

  const webhook = hook.url.replace('//', `//user:${secret('webhook-user')}@`);
  const run = {
    assistant_id: 'fails',
    input: { x: 1, password: secret('input') },
    config: { configurable: { api_token: secret('configurable') } },
    metadata: { token: secret('metadata') },
    webhook: `${webhook}/x1y2${secret('path')}?token=${secret('query')}`,
  };
  const ended = server.untilLog('run failed');
  const delivered = server.untilLog('webhook delivered');
  expect(await send('POST', `/runs?token=${secret('url')}`, run)).toBe(200);
  await Promise.all([ended, delivered]);
  await send('POST', '/runs/stream', { ...run, assistant_id: 'echo', stream_mode: ['debug', 'events'] });
  await send('POST', '/threads', {}, { ...HEADERS, 'x-api-key': secret('wrong-key') });
  await send('POST', `/mcp?key=${secret('url')}`, { jsonrpc: '1.0', token: secret('mcp') });
  await send('POST', '/a2a/echo', {
    jsonrpc: '2.0',
    id: 1,
    method: 'SendMessage',
    params: { x: secret('a2a') },
  });
  await send('PUT', '/store/items', { namespace: ['n'], key: 'k', value: { token: secret('store') } });
  await send('GET', `/nope?token=${secret('url')}`);
  await send('POST', '/threads', { metadata: secret('bad body') });
  await send('GET', `/threads/%zz?${secret('bad url')}`);
  await server.kill('SIGTERM');

  expect(server.log.length).toBeGreaterThan(10);
  expect(JSON.stringify(server.log) + server.errors).not.toMatch(/hush/);
});

function withPassword(url: string): string {
  const address = new URL(url);
  address.password = secret('database');
  return address.href;
}

const GRAPH = 'export const graph = { stream() {}, getState() {} };\n';

test.each([
  ['an unavailable database', { DATABASE_URI: `postgres://me:${secret('password')}@127.0.0.1:1/db` }],
  ['an invalid database address', { DATABASE_URI: `postgres://me:${secret('pass word')}@:x:1/%zz` }],
  [
    'its password in the query',
    { DATABASE_URI: `postgres://127.0.0.1:1/db?user=me&password=${secret('query')}` },
  ],
  ['another kind of database', { DATABASE_URI: `mysql://me:${secret('password')}@127.0.0.1/db` }],
  ['an invalid signing secret', { LANGGRAPH_WEBHOOKS: `{"secret":"${secret('short')}"}` }],
  ['JSON that is none', { LANGGRAPH_AUTH: `{"jwt":{"secret":"${secret('jwt')}"` }],
  ['an unknown key', { LANGGRAPH_AUTH: `{"jwt":{"secrets":"${secret('jwt')}"}}` }],
  ['an invalid port', { PORT: secret('port') }],
])('problems at startup are reported without secrets: %s', async (_what, env) => {
  await using folder = await project({
    'agent.config.yaml': 'graphs: { one: "./one.mjs:graph" }',
    'one.mjs': GRAPH,
  });
  for (const command of ['start', 'check']) {
    const { code, stdout, stderr } = await agentServer([command], {
      cwd: folder.root,
      env: { LOG_LEVEL: 'debug', AGENT_SERVER_DATABASE_WAIT_SECONDS: '1', ...env },
    });
    if (command === 'start') expect(code).not.toBe(0);
    expect(stdout + stderr).not.toMatch(/hush|^ +at /m);
  }
});

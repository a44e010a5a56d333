import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { join, resolve } from 'node:path';
import { type HttpClient, httpClient } from '../support/http-client.ts';
import { receiver } from '../support/receiver.ts';
import { joinRun, startRun } from '../support/remote-runs.ts';
import { startServer, type TestServer } from '../support/server.ts';

/**
 * Started where there is no network but loopback: uses whatever a server does, and fails when something of it does
 * not work. The server's calls are written to the file that is named on the command line (see recorder.ts).
 */
const [calls = ''] = process.argv.slice(2);
const INPUT = { messages: [{ type: 'human', content: 'hello' }] };
const HERE = import.meta.dirname;

const [refusal] = await once(connect(80, '192.0.2.1'), 'error');
assert.match(refusal.code, /^E(NETUNREACH|HOSTUNREACH)$/, 'this must run where no other machine is reached');

await using server = await startServer({
  config: resolve(HERE, 'agent.config.yaml'),
  env: { NODE_OPTIONS: `--import=${join(HERE, 'recorder.ts')}`, RECORDED_CALLS: calls },
});
using http = httpClient(server.url);
await runs(http, server);
await store(http);
await crons(http, server);
await mcp(http);
await a2a(http);
await pages(http, server);
await webhooks(http);
await graphsOwnCall(http);

async function runs(http: HttpClient, { client }: TestServer): Promise<void> {
  await http.call('GET', '/assistants/chat/schemas');
  const { thread_id } = await client.threads.create();
  const values = await client.runs.wait(thread_id, 'chat', { input: INPUT });
  assert.equal((values as { messages: unknown[] }).messages.length, 2);
  const names = new Set<string>();
  const streamMode = ['values', 'updates', 'messages', 'debug', 'events'] as const;
  for await (const { event } of client.runs.stream(thread_id, 'chat', {
    input: INPUT,
    streamMode: [...streamMode],
  })) {
    names.add(event);
  }
  assert.ok(names.has('values') && names.has('updates') && !names.has('error'));
  const run = await startRun(http, { assistant_id: 'chat', input: INPUT }, thread_id);
  assert.ok(await joinRun(http, run));
  assert.equal((await client.threads.getHistory(thread_id)).length > 2, true);
}

async function store(http: HttpClient): Promise<void> {
  const item = { namespace: ['notes'], key: 'one', value: { text: 'rain over the harbour' } };
  await http.call('PUT', '/store/items', item);
  const search = { namespace_prefix: ['notes'], query: 'harbour' };
  const { items } = await http.call<{ items: unknown[] }>('POST', '/store/items/search', search);
  assert.equal(items.length, 1);
}

async function crons(http: HttpClient, server: TestServer): Promise<void> {
  const cron = { assistant_id: 'chat', schedule: '0 0 1 1 *', input: INPUT };
  const { cron_id } = await http.call<{ cron_id: string }>('POST', '/runs/crons', cron);
  const ended = server.untilLog('run ended');
  await http.call('POST', `/runs/crons/${cron_id}/trigger`);
  await ended;
}

async function mcp(http: HttpClient): Promise<void> {
  const ask = (method: string, params = {}) =>
    http.call<{ result: object }>('POST', '/mcp', { jsonrpc: '2.0', id: 1, method, params });
  assert.ok('tools' in (await ask('tools/list')).result);
  assert.ok('content' in (await ask('tools/call', { name: 'chat', arguments: INPUT })).result);
}

async function a2a(http: HttpClient): Promise<void> {
  const card = await http.call<{ url: string }>('GET', '/.well-known/agent-card.json?assistant_id=chat');
  const message = { role: 'ROLE_USER', messageId: 'one', parts: [{ text: 'hello' }] };
  const { status, body } = await http.send('POST', new URL(card.url).pathname, {
    body: { jsonrpc: '2.0', id: 1, method: 'SendMessage', params: { message } },
    headers: { 'a2a-version': '1.0' },
  });
  assert.deepEqual([status, 'result' in (body as object)], [200, true]);
}

/** The documentation names no other place, and what it names is there; so do components for pages. */
async function pages(http: HttpClient, { url }: TestServer): Promise<void> {
  await http.call('GET', '/openapi.json');
  const page = await fetch(`${url}/docs/`);
  assert.match(String(page.headers.get('content-security-policy')), /^default-src 'self'/);
  const named = [...(await page.text()).matchAll(/(?:src|href)="([^"]+)"/g)].map(
    ([, target]) => target ?? '',
  );
  assert.ok(named.length > 3);
  for (const target of named) {
    const file = new URL(target, page.url);
    assert.equal(file.origin, url);
    assert.equal((await fetch(file)).status, 200, target);
  }
  const component = await fetch(`${url}/ui/weather`, { method: 'POST', body: '{"name":"weather"}' });
  assert.equal(component.status, 200);
}

async function webhooks(http: HttpClient): Promise<void> {
  await using hook = await receiver();
  await startRun(http, { assistant_id: 'chat', input: INPUT, webhook: `${hook.url}/hook` });
  await hook.came(1);
}

/** The one that is not ours, which shows that the recorder sees calls and that none gets out. */
async function graphsOwnCall(http: HttpClient): Promise<void> {
  const run = await startRun(http, { assistant_id: 'calls-out', input: { url: 'http://192.0.2.1:81/' } });
  assert.deepEqual(await joinRun(http, run), { url: 'http://192.0.2.1:81/', answer: 'ENETUNREACH' });
}

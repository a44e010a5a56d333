import { existsSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openApp } from '../../support/app.ts';
import { customCode } from '../../support/custom-code.ts';
import { naming } from '../../support/naming.ts';
import type { Project } from '../../support/project.ts';

type App = Awaited<ReturnType<typeof openApp>>;

/** One project, once in the server's process and once in a host: clients must see no difference. */
let folder: Project;
let inProcess: App;
let inHost: App;

beforeAll(async () => {
  folder = await customCode('mcp: { app: ./mcp.mjs:register }\n');
  const open = (hosts: string) =>
    openApp({ graphs: ['compute'], folder: folder.root, environment: { AGENT_SERVER_HOSTS: hosts } });
  [inProcess, inHost] = await Promise.all([open('0'), open('1')]);
  // A list of tools does not wait for schemas that are still being read from types.
  for (const app of [inProcess, inHost]) {
    const [{ assistant_id }] = (await app.post('/assistants/search', { graph_id: 'compute' })).body;
    expect((await app.get(`/assistants/${assistant_id}/schemas`)).status).toBe(200);
  }
});

afterAll(async () => {
  await Promise.all([inProcess, inHost].map((app) => app[Symbol.asyncDispose]()));
  await folder[Symbol.asyncDispose]();
});

const REVISION = '2026-07-28';
const ENVELOPE = {
  'io.modelcontextprotocol/protocolVersion': REVISION,
  'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': { elicitation: { form: {} } },
  'io.modelcontextprotocol/logLevel': 'info',
};

interface Asked {
  readonly method: string;
  readonly params?: object;
  readonly headers?: Record<string, string>;
}

const call = (name: string, given: object = {}, headers = {}): Asked => ({
  method: 'tools/call',
  params: { name, arguments: given, _meta: { progressToken: 'token' } },
  headers,
});
const prompt = (name: string): Asked => ({ method: 'prompts/get', params: { name } });
const read = (uri: string): Asked => ({ method: 'resources/read', params: { uri } });

async function askLegacy(app: App, { method, params = {}, headers }: Asked) {
  return answerOf(await app.post('/mcp', { jsonrpc: '2.0', id: 7, method, params }, headers));
}

async function askModern(app: App, { method, params = {}, headers }: Asked) {
  const { name, uri, _meta } = params as { name?: string; uri?: string; _meta?: object };
  const message = { jsonrpc: '2.0', id: 7, method, params: { ...params, _meta: { ..._meta, ...ENVELOPE } } };
  const answer = await app.post('/mcp', message, {
    'mcp-protocol-version': REVISION,
    'mcp-method': method,
    ...((name ?? uri) && { 'mcp-name': name ?? uri }),
    ...headers,
  });
  return answerOf(answer);
}

/** Status, the messages in order, and their text. */
function answerOf({ status, text, body }: Awaited<ReturnType<App['post']>>) {
  const events = text.split('\n').filter((line) => line.startsWith('data: {'));
  const messages =
    body === undefined ? events.map((line) => JSON.parse(line.slice('data: '.length))) : [body];
  return { status, messages, text };
}

const REQUESTS: readonly [what: string, asked: Asked, seen: string][] = [
  ['the list of tools', { method: 'tools/list' }, '"where"'],
  ['progress and a log message before the result', call('work', { steps: 3 }), '"progress":3'],
  ['arguments that are invalid', call('work', { steps: 'many' }), 'expected number'],
  ['an error of a tool', call('fail'), 'broken tool'],
  ['a result that is a list', call('list'), '[1,2]'],
  ['a missing tool', call('nothing'), 'nothing'],
  ['an error of a prompt', prompt('fail'), 'broken prompt'],
  ['a missing prompt', prompt('nothing'), 'nothing'],
  ['a page of a template', read('page://one'), '"text":"one"'],
  ['a missing resource', read('file://one'), 'file://one'],
  ['the list of resource templates', { method: 'resources/templates/list' }, 'page://{name}'],
  [
    'the completion of an argument',
    {
      method: 'completion/complete',
      params: { ref: { type: 'ref/resource', uri: 'page://{name}' }, argument: { name: 'name', value: 'o' } },
    },
    '"other"',
  ],
  ['a missing method', { method: 'acme/nothing' }, 'Method not found'],
  ['params of a method of the project that are invalid', { method: 'acme/search' }, 'query'],
  ['a tool that requires a scope', call('scoped'), 'nsufficient'],
];

test.each(REQUESTS)(
  '%s is the same with custom MCP code in a host, for clients of all revisions',
  async (_what, asked, seen) => {
    for (const ask of [askLegacy, askModern]) {
      const [expected, found] = [await ask(inProcess, asked), await ask(inHost, asked)];
      expect([found.status, found.messages]).toEqual([expected.status, expected.messages]);
      expect(found.text).toContain(seen);
    }
  },
);

test('custom MCP code in a host leaves the server capabilities unchanged', async () => {
  const capabilities = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: ENVELOPE };
  const initialize = { method: 'initialize', params: capabilities };
  expect(await askLegacy(inHost, initialize)).toEqual(await askLegacy(inProcess, initialize));
  const discover = { method: 'server/discover' };
  const found = await askModern(inHost, discover);
  expect(found).toEqual(await askModern(inProcess, discover));
  expect(found.text).toContain('"completions"');
});

test('a custom MCP tool in a host asks the client and gets the answer', async () => {
  for (const app of [inProcess, inHost]) {
    expect((await askModern(app, call('ask'))).text).toContain('"inputRequests"');
    const inputResponses = { answer: { action: 'accept', content: { name: 'Ann' } } };
    const { params } = call('ask');
    const answered = { ...call('ask'), params: { ...params, inputResponses } };
    expect((await askModern(app, answered)).text).toContain('"text":"Ann"');
    expect((await askLegacy(app, call('ask'))).text).toContain('input-required');
  }
});

test('the header of an argument of a custom MCP tool is checked against the argument', async () => {
  const asked = (value: string) => call('header', { where: 'here' }, { 'mcp-param-where': value });
  for (const app of [inProcess, inHost]) {
    expect((await askModern(app, asked('there'))).status).toBe(400);
    expect((await askModern(app, asked('here'))).text).toContain('"text":"here"');
  }
});

test('custom MCP tools execute in the host, and several requests of one message have their own responses', async () => {
  const { method, params } = call('pid');
  const batch = [1, 2].map((id) => ({ jsonrpc: '2.0', id, method, params }));
  const { text } = await inHost.post('/mcp', batch, { 'mcp-protocol-version': '2025-03-26' });
  const pids = [...text.matchAll(/"text":"(\d+)"/g)].map(([, pid]) => Number(pid));
  expect(pids).toHaveLength(2);
  expect(new Set(pids).size).toBe(1);
  expect(pids).not.toContain(process.pid);
});

test('an MCP client that disconnects aborts its request in the host', async () => {
  const { url } = await inHost.app.listen();
  const client = new AbortController();
  const params = { name: 'wait', arguments: {}, _meta: ENVELOPE };
  const left = fetch(`${url}/mcp`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': REVISION,
      'mcp-method': 'tools/call',
      'mcp-name': 'wait',
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 7, method: 'tools/call', params }),
    signal: client.signal,
  });
  await expect.poll(() => existsSync(folder.path('waiting'))).toBe(true);
  client.abort();
  await expect(left).rejects.toThrow('abort');
  await expect.poll(() => existsSync(folder.path('stopped'))).toBe(true);
});

test('a registration and a tool that end their host are reported at once, and the next request is served', async () => {
  const untilServed = (ask: typeof askLegacy) =>
    expect.poll(async () => (await ask(inHost, call('pid'))).status).toBe(200);
  for (const ask of [askLegacy, askModern]) {
    const { status, text } = await ask(inHost, call('pid', {}, { 'x-end': 'yes' }));
    expect([status, text]).toEqual([503, naming('code 3')]);
    await untilServed(ask);
  }
  expect((await askModern(inHost, call('exit'))).text).toEqual(naming('code 3'));
  await untilServed(askModern);
});

test.each(['0', '1'])('with MCP disabled and %s hosts, the code of mcp.app is not loaded', async (hosts) => {
  const environment = { AGENT_SERVER_HOSTS: hosts, LANGGRAPH_HTTP: '{"disable_mcp":true}' };
  await using broken = await customCode('mcp: { app: ./nowhere.mjs:register }\n');
  await using app = await openApp({ graphs: ['compute'], folder: broken.root, environment });
  expect((await app.post('/mcp', { jsonrpc: '2.0', id: 1, method: 'ping' })).status).toBe(404);
});

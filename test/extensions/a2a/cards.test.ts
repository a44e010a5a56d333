import { AgentCard } from '@a2a-js/sdk';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { A2A_FOLDER as folder } from '../../support/a2a.ts';
import { openApp } from '../../support/app.ts';
import { naming } from '../../support/naming.ts';

let server: Awaited<ReturnType<typeof openApp>>;

beforeAll(async () => {
  server = await openApp({ folder, graphs: ['chat', 'zod-state'] });
});

afterAll(() => server[Symbol.asyncDispose]());

const OF_1_0 = { 'a2a-version': '1.0' };
const CARD = '/a2a/chat/.well-known/agent-card.json';

test('the same A2A card is served at every well-known URL', async () => {
  const { body: card } = await server.get(CARD);
  const { assistant_id } = (await server.post('/assistants/search', { graph_id: 'chat' })).body[0];
  for (const place of [
    '/.well-known/agent-card.json?assistant_id=chat',
    `/.well-known/agent-card.json?assistant_id=${assistant_id}`,
    '/.well-known/agent.json?assistant_id=chat',
    '/a2a/chat/.well-known/agent.json',
    '/a2a/chat',
    '/a2a/chat/',
    `/a2a/${assistant_id}/.well-known/agent-card.json`,
  ]) {
    const { status, body } = await server.get(place);
    expect([place, status, body]).toEqual([place, 200, card]);
  }
});

test.each(['agent-card.json', 'agent.json'])(
  'a card URL without a trailing slash is a 404 that names the slash: %s',
  async (name) => {
    const { status, body } = await server.get(`/a2a/.well-known/${name}`);
    expect([status, body]).toEqual([404, { detail: naming('/a2a/{assistant_id}/') }]);
  },
);

test('the card at the root is that of the default assistant, else of the only one, else a name is required', async () => {
  const { status, body } = await server.get('/.well-known/agent-card.json');
  expect([status, body.error.code]).toEqual([400, -32602]);
  expect(body.error.message).toContain('assistant_id');
  const unknown = await server.get('/.well-known/agent-card.json?assistant_id=nobody');
  expect([unknown.status, unknown.body.error.code]).toEqual([400, -32602]);

  await using one = await openApp({ folder, graphs: ['chat'] });
  expect((await one.get('/.well-known/agent-card.json')).body.name).toBe('chat');
  const environment = {
    LANGGRAPH_HTTP: '{"a2a": {"default_assistant": "zod-state", "card_default": "1.0"}}',
  };
  await using chosen = await openApp({ folder, graphs: ['chat', 'zod-state'], environment });
  const { body: named } = await chosen.get('/.well-known/agent-card.json');
  expect(named).toMatchObject({
    name: 'zod-state',
    supportedInterfaces: [{ protocolVersion: '1.0' }, {}, {}],
  });
  expect(named).not.toHaveProperty('preferredTransport');
});

test('an A2A card has the form of the requested version, or one that clients of both versions can read', async () => {
  const { body: modern } = await server.get(CARD, OF_1_0);
  const { assistant_id } = (await server.post('/assistants/search', { graph_id: 'chat' })).body[0];
  const url = `http://localhost:80/a2a/${assistant_id}`;
  expect(modern.supportedInterfaces).toEqual([
    { url, protocolBinding: 'JSONRPC', protocolVersion: '1.0' },
    { url, protocolBinding: 'HTTP+JSON', protocolVersion: '1.0' },
    { url, protocolBinding: 'JSONRPC', protocolVersion: '0.3' },
  ]);
  for (const old of ['url', 'preferredTransport', 'protocolVersion', 'additionalInterfaces', 'security']) {
    expect(modern).not.toHaveProperty(old);
  }
  // The codec drops what the schema of 1.0 does not have.
  const known = AgentCard.toJSON(AgentCard.fromJSON(modern)) as object;
  expect(Object.keys(known).sort()).toEqual(Object.keys(modern).sort());
  expect((await server.get(`${CARD}?A2A-Version=1.0`)).body).toEqual(modern);

  for (const headers of [{}, { 'a2a-version': '0.3' }, { 'a2a-version': '0.3.0' }]) {
    const { body } = await server.get(CARD, headers);
    expect(body).toMatchObject({
      url,
      preferredTransport: 'JSONRPC',
      protocolVersion: '0.3.0',
      supportedInterfaces: modern.supportedInterfaces,
    });
  }
  const { status, body } = await server.get(CARD, { 'a2a-version': '2.0' });
  expect([status, body.error.code]).toEqual([400, -32009]);
});

test('an A2A card describes the assistant and its inputs', async () => {
  const { body: card } = await server.get(CARD, OF_1_0);
  expect(card).toMatchObject({
    name: 'chat',
    description: expect.stringMatching(/\w/),
    version: '1',
    documentationUrl: 'http://localhost:80/docs',
    capabilities: {
      streaming: true,
      extensions: [{ uri: 'https://langchain.com/a2a/extensions/history-scope/v1' }],
    },
    defaultInputModes: expect.arrayContaining(['text/plain', 'image/*']),
    defaultOutputModes: ['text/plain', 'application/json'],
    skills: [{ id: 'chat-main', tags: ['assistant', 'chat'] }],
  });

  const skills = [{ id: 'greet', name: 'Greet', description: 'Says hello.', tags: ['hello'] }];
  const metadata = { a2a: { input_modes: ['text/plain'], output_modes: ['text/plain'], skills } };
  const made = { graph_id: 'chat', name: 'Greeter', description: 'Greets.', metadata };
  const { body: assistant } = await server.post('/assistants', made);
  const { body: own } = await server.get(`/a2a/${assistant.assistant_id}`, OF_1_0);
  expect(own).toMatchObject({
    name: 'Greeter',
    description: 'Greets.',
    defaultInputModes: ['text/plain'],
    skills,
  });
  await server.patch(`/assistants/${assistant.assistant_id}`, { name: 'Greeter 2' });
  const { body: newer } = await server.get(`/a2a/${assistant.assistant_id}`, OF_1_0);
  expect([newer.name, newer.version]).toEqual(['Greeter 2', '2']);
});

test('a client with an unchanged A2A card gets 304', async () => {
  const { headers } = await server.get(CARD);
  expect(headers).toMatchObject({
    vary: expect.stringContaining('A2A-Version'),
    'cache-control': 'public, max-age=60',
    'last-modified': expect.stringMatching(/GMT$/),
  });
  const etag = String(headers['etag']);
  for (const known of [etag, `"another", ${etag}`, `W/${etag}`, '*']) {
    const { status, text, headers: again } = await server.get(CARD, { 'if-none-match': known });
    expect([known, status, text, again['etag']]).toEqual([known, 304, '', etag]);
  }
  const modern = await server.get(CARD, { ...OF_1_0, 'if-none-match': etag });
  expect([modern.status, modern.headers['etag'] === etag]).toEqual([200, false]);
});

test('an A2A card has the URLs of the configuration', async () => {
  const environment = { LANGGRAPH_HTTP: '{"a2a": {"base_url": "https://agents.example.com/"}}' };
  await using server = await openApp({ folder, graphs: ['chat'], environment });
  const { body } = await server.get(CARD, OF_1_0);
  expect(body.supportedInterfaces[0].url).toMatch(/^https:\/\/agents\.example\.com\/a2a\//);
  expect(body.documentationUrl).toBe('https://agents.example.com/docs');
});

test('the URL of a card is that of X-Forwarded headers if they are trusted and valid', async () => {
  const environment = { AGENT_SERVER_API_KEYS: 'sesame', AGENT_SERVER_TRUST_PROXY: '10.0.0.0/8' };
  await using served = await openApp({ folder, graphs: ['zod-state'], environment });
  const urlFor = async (remoteAddress: string, forwarded: string) => {
    const headers = {
      ...{ 'x-api-key': 'sesame', host: '127.0.0.1:8123' },
      ...{ 'x-forwarded-proto': 'https', 'x-forwarded-host': forwarded },
    };
    const url = '/.well-known/agent-card.json';
    return (await served.app.server.inject({ url, remoteAddress, headers })).json().url;
  };
  expect(await urlFor('10.1.2.3', 'agents.example.com')).toMatch(/^https:\/\/agents\.example\.com\/a2a/);
  expect(await urlFor('203.0.113.7', 'agents.example.com')).toMatch(/^http:\/\/127\.0\.0\.1:8123\/a2a/);
  expect(await urlFor('10.1.2.3', 'evil"><script>')).not.toContain('evil');
});

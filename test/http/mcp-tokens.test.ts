import { resolve } from 'node:path';
import {
  discoverOAuthProtectedResourceMetadata,
  extractWWWAuthenticateParams,
} from '@modelcontextprotocol/client';
import { expect, test } from 'vitest';
import { openApp } from '../support/app.ts';

const ISSUER = 'https://login.example/';
const LIST = { jsonrpc: '2.0', id: 1, method: 'tools/list' };
const WELL_KNOWN = '/.well-known/oauth-protected-resource';
const folder = resolve(import.meta.dirname, '../fixtures/auth');

function withIssuer(http = {}) {
  const jwt = { issuer: ISSUER, secret: 'a secret that is shared with nobody but this test' };
  return openApp({ graphs: ['zod-state'], http, environment: { LANGGRAPH_AUTH: JSON.stringify({ jwt }) } });
}

test.each(['/mcp', '/mcp/zod-state'])(
  'a client without a token finds out at %s where to get one',
  async (path) => {
    await using server = await withIssuer();
    const { url } = await server.app.listen();
    const refused = await fetch(`${url}${path}`, { method: 'POST', body: JSON.stringify(LIST) });
    expect(refused.status).toBe(401);
    const { resourceMetadataUrl } = extractWWWAuthenticateParams(refused);
    expect(resourceMetadataUrl?.href).toBe(`${url}${WELL_KNOWN}${path}`);
    const metadata = await discoverOAuthProtectedResourceMetadata(`${url}${path}`, {
      resourceMetadataUrl: resourceMetadataUrl as URL,
    });
    expect(metadata).toMatchObject({ resource: `${url}${path}`, authorization_servers: [ISSUER] });
    // Clients that do not look at the answer try the well-known addresses.
    expect(await discoverOAuthProtectedResourceMetadata(`${url}${path}`)).toEqual(metadata);
  },
);

test('a client with an invalid token gets an error that says so', async () => {
  await using server = await withIssuer();
  const answer = await server.post('/mcp', LIST, { authorization: 'Bearer nonsense' });
  expect([answer.status, answer.headers['www-authenticate']]).toEqual([
    401,
    expect.stringMatching(/^Bearer error="invalid_token", resource_metadata="http:/),
  ]);
  expect((await server.get('/threads')).headers['www-authenticate']).toBeUndefined();
});

test('behind a proxy the addresses are those that the configuration says', async () => {
  const base_url = 'https://agents.example.com/v1';
  await using server = await withIssuer({
    mcp: { cancel_on_disconnect: false, base_url, body_limit: 1024 ** 2 },
  });
  expect((await server.get(WELL_KNOWN)).body).toEqual({
    resource: `${base_url}/mcp`,
    authorization_servers: [ISSUER],
    bearer_methods_supported: ['header'],
    resource_name: 'Agent Server',
  });
  const refused = await server.post('/mcp', LIST);
  expect(refused.headers['www-authenticate']).toBe(`Bearer resource_metadata="${base_url}${WELL_KNOWN}/mcp"`);
});

test('handlers of the project can name who issues their tokens, and say more in their refusals', async () => {
  const auth = { path: './auth.ts:auth', authorization_servers: [ISSUER] };
  await using server = await openApp({
    graphs: ['echo'],
    folder,
    environment: { LANGGRAPH_AUTH: JSON.stringify(auth) },
  });
  expect((await server.get(WELL_KNOWN)).body.authorization_servers).toEqual([ISSUER]);
  const refused = await server.post('/mcp', LIST, { authorization: 'Bearer nobody' });
  expect(refused.headers['www-authenticate']).toMatch(
    /^Bearer realm="test", error="invalid_token", resource_metadata="/,
  );
});

test('a server with keys alone names no issuer', async () => {
  await using server = await openApp({
    graphs: ['zod-state'],
    environment: { AGENT_SERVER_API_KEYS: 'sesame' },
  });
  expect((await server.get(WELL_KNOWN, { 'x-api-key': 'sesame' })).status).toBe(404);
  expect((await server.post('/mcp', LIST)).headers['www-authenticate']).toBeUndefined();
  expect((await server.post('/mcp', LIST, { 'x-api-key': 'sesame' })).status).toBe(200);
});

test('a server without keys answers pages of this machine and of allowed hosts, and no others', async () => {
  await using server = await openApp({
    graphs: ['zod-state'],
    server: { allowed_hosts: ['agents.example.com'] },
  });
  const status = async (origin: string) => (await server.post('/mcp', LIST, { origin })).status;
  for (const origin of ['http://localhost:6274', 'http://127.0.0.1', 'https://agents.example.com']) {
    expect([origin, await status(origin)]).toEqual([origin, 200]);
  }
  for (const origin of ['https://evil.example', 'http://localhost.evil.example', 'null']) {
    expect([origin, await status(origin)]).toEqual([origin, 403]);
  }
});

import { resolve } from 'node:path';
import {
  discoverOAuthProtectedResourceMetadata,
  extractWWWAuthenticateParams,
} from '@modelcontextprotocol/client';
import { expect, test } from 'vitest';
import { openApp } from '../../support/app.ts';

const ISSUER = 'https://login.example/';
const LIST = { jsonrpc: '2.0', id: 1, method: 'tools/list' };
const WELL_KNOWN = '/.well-known/oauth-protected-resource';
const folder = resolve(import.meta.dirname, '../../fixtures/auth');

function withIssuer(http = {}) {
  const jwt = { issuer: ISSUER, secret: 'a secret that is shared with nobody but this test' };
  return openApp({ graphs: ['zod-state'], http, environment: { LANGGRAPH_AUTH: JSON.stringify({ jwt }) } });
}

test.each(['/mcp', '/mcp/zod-state'])(
  'an MCP client without a token finds its authorization server at %s',
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

test('an MCP client with an invalid token gets error invalid_token', async () => {
  await using server = await withIssuer();
  const answer = await server.post('/mcp', LIST, { authorization: 'Bearer nonsense' });
  expect([answer.status, answer.headers['www-authenticate']]).toEqual([
    401,
    expect.stringMatching(/^Bearer error="invalid_token", resource_metadata="http:/),
  ]);
  expect((await server.get('/threads')).headers['www-authenticate']).toBeUndefined();
});

test('behind a proxy, MCP authorization metadata has the configured URLs', async () => {
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

test('auth handlers can name the issuer of their tokens and extend their refusals', async () => {
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

test('a server with only API keys names no token issuer', async () => {
  await using server = await openApp({
    graphs: ['zod-state'],
    environment: { AGENT_SERVER_API_KEYS: 'sesame' },
  });
  expect((await server.get(WELL_KNOWN, { 'x-api-key': 'sesame' })).status).toBe(404);
  expect((await server.post('/mcp', LIST)).headers['www-authenticate']).toBeUndefined();
  expect((await server.post('/mcp', LIST, { 'x-api-key': 'sesame' })).status).toBe(200);
});

test('a server without keys accepts MCP requests only from pages of this machine and of allowed hosts', async () => {
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

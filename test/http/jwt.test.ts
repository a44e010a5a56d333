import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, generateKeyPair, type JWTPayload, SignJWT } from 'jose';
import { expect, test } from 'vitest';
import { jwtAuthentication } from '../../src/auth/jwt.ts';
import { systemClock } from '../../src/core/clock.ts';
import { openApp } from '../support/app.ts';
import { naming } from '../support/naming.ts';

const SECRET = 'a secret that is shared with nobody but this test';
const bytes = new TextEncoder().encode(SECRET);

function signed(claims: JWTPayload, expires = '1h', secret = bytes): Promise<string> {
  return new SignJWT(claims).setProtectedHeader({ alg: 'HS256' }).setExpirationTime(expires).sign(secret);
}

const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

function open(jwt: object) {
  const environment = { LANGGRAPH_AUTH: JSON.stringify({ jwt: { secret: SECRET, ...jwt } }) };
  return openApp({ graphs: ['echo'], environment });
}

test('the user of a JWT sees their own rows and the system assistants', async () => {
  await using server = await open({ permissions_claim: 'scope' });
  const jane = bearer(await signed({ sub: 'jane@example.com', scope: 'chat more' }));
  const john = bearer(await signed({ sub: 'john' }));
  const thread = await server.post('/threads', { metadata: { owner: 'john' } }, jane);
  expect(thread.body.metadata).toEqual({ owner: 'jane@example.com' });
  const url = `/threads/${thread.body.thread_id}`;
  expect((await server.get(url, john)).status).toBe(404);
  const run = await server.post(`${url}/runs`, { assistant_id: 'echo', input: {} }, jane);
  expect(run.body.kwargs.config.configurable).toMatchObject({
    langgraph_auth_user_id: 'jane@example.com',
    langgraph_auth_permissions: ['chat', 'more'],
    langgraph_auth_user: { sub: 'jane@example.com', display_name: 'jane@example.com' },
  });

  const made = await server.post(
    '/assistants',
    { graph_id: 'echo', metadata: { created_by: 'system' } },
    jane,
  );
  expect(made.body.metadata).toEqual({ owner: 'jane@example.com' });
  expect((await server.post('/assistants/count', {}, jane)).body).toBe(2);
  expect((await server.post('/assistants/count', {}, john)).body).toBe(1);
  expect((await server.get('/assistants/echo', john)).status).toBe(200);
  expect((await server.patch('/assistants/echo', { name: 'mine' }, john)).status).toBe(404);

  const item = { namespace: ['jane@example%2Ecom'], key: 'a', value: {} };
  expect((await server.send('PUT', '/store/items', item, jane)).status).toBe(204);
});

test('a JWT that is not valid for this server is refused', async () => {
  await using server = await open({ issuer: 'https://login.example', audience: 'agents' });
  const good = { sub: 'jane', iss: 'https://login.example', aud: 'agents' };
  const answers = async (token: string) => {
    const { status, body } = await server.post('/threads/count', {}, bearer(token));
    return [status, body.detail ?? body];
  };
  expect(await answers(await signed(good))).toEqual([200, 0]);
  expect(await answers(await signed({ ...good, aud: ['others', 'agents'] }))).toEqual([200, 0]);
  expect(await answers(await signed({ ...good, aud: 'others' }))).toEqual([401, naming("'aud'")]);
  expect(await answers(await signed({ ...good, iss: 'https://evil.example' }))).toEqual([
    401,
    expect.any(String),
  ]);
  expect(await answers(await signed(good, '-1h'))).toEqual([401, naming('expired')]);
  expect(await answers(await signed({ ...good, sub: '' }))).toEqual([401, naming("'sub'")]);
  const forged = await signed(
    good,
    '1h',
    new TextEncoder().encode('another secret, just as long as that one'),
  );
  expect(await answers(forged)).toEqual([401, naming('not valid')]);
  const endless = await new SignJWT(good).setProtectedHeader({ alg: 'HS256' }).sign(bytes);
  expect((await answers(endless))[0]).toBe(401);
  const unsigned = `${btoa('{"alg":"none"}')}.${btoa(JSON.stringify({ ...good, exp: 9999999999 }))}.`;
  expect((await answers(unsigned))[0]).toBe(401);
  expect((await server.post('/threads/count', {})).body).toEqual({ detail: 'Missing bearer token' });
});

test('a user whose JWT has the admin permission sees the rows of all users', async () => {
  await using server = await open({ permissions_claim: 'realm.roles', admin_permission: 'operator' });
  await server.post('/threads', {}, bearer(await signed({ sub: 'jane' })));
  const chief = bearer(await signed({ sub: 'chief', realm: { roles: ['operator'] } }));
  const clerk = bearer(await signed({ sub: 'clerk', realm: { roles: ['clerk'] } }));
  expect((await server.post('/threads/count', {}, chief)).body).toBe(1);
  expect((await server.post('/threads/count', {}, clerk)).body).toBe(0);
});

test('keys of the JWT issuer can be rotated, and requests get 503 while they cannot be fetched', async () => {
  const keys: { kid: string; pair: Awaited<ReturnType<typeof generateKeyPair>> }[] = [];
  const issuer = createServer(async (_request, response) => {
    const set = await Promise.all(
      keys.map(async ({ kid, pair }) => ({
        ...(await exportJWK(pair.publicKey)),
        kid,
        alg: 'ES256',
        use: 'sig',
      })),
    );
    response.end(JSON.stringify({ keys: set }));
  });
  await new Promise<void>((resolve) => issuer.listen(0, '127.0.0.1', () => resolve()));
  const { port } = issuer.address() as AddressInfo;
  const jwks_url = `http://127.0.0.1:${port}/keys`;
  const options = { jwks_url, identity_claim: 'sub', permissions_claim: 'permissions' };
  const authenticate = jwtAuthentication(options, systemClock, 0);
  const tokenOf = async (kid: string) => {
    const pair = await generateKeyPair('ES256');
    keys.unshift({ kid, pair });
    const token = new SignJWT({ sub: kid }).setProtectedHeader({ alg: 'ES256', kid }).setExpirationTime('1h');
    return token.sign(pair.privateKey);
  };

  const first = await tokenOf('first');
  expect((await authenticate(first)).user?.identity).toBe('first');
  const second = await tokenOf('second');
  expect((await authenticate(second)).user?.identity).toBe('second');
  const unknown = await tokenOf('unknown');
  keys.shift();
  await expect(authenticate(unknown)).rejects.toMatchObject({ status: 401 });
  await new Promise((resolve) => issuer.close(resolve));
  issuer.closeAllConnections();
  await expect(jwtAuthentication(options, systemClock, 0)(first)).rejects.toMatchObject({ status: 503 });
});

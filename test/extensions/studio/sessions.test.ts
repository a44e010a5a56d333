import { join, resolve } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { STUDIO } from '../../../src/extensions/studio/settings.ts';
import { openApp } from '../../support/app.ts';
import { makeDataFolder } from '../../support/data-folder.ts';

const ENVIRONMENT = { AGENT_SERVER_API_KEYS: 'operator' };
const http = await openApp({ graphs: ['echo', 'sleeper'], environment: ENVIRONMENT });
afterAll(() => http[Symbol.asyncDispose]());

const OWN = { host: 'agents.example', origin: 'http://agents.example' };
const FOREIGN = { host: 'agents.example', origin: 'http://evil.example' };

type Answer = Awaited<ReturnType<typeof http.get>>;

/** The cookie that an answer sets, as a browser sends it back. */
function cookieOf({ headers }: Answer): string {
  return String(headers['set-cookie']).split(';')[0] as string;
}

async function signIn(body: object): Promise<{ cookie: string }> {
  const answer = await http.post('/studio/session', body, OWN);
  expect(answer).toMatchObject({ status: 200, body: { signed_in: true } });
  return { cookie: cookieOf(answer) };
}

async function newKey(scope: string) {
  const { body } = await http.post('/keys', { name: scope, scope }, { 'x-api-key': 'operator' });
  return body as { key: string; key_id: string };
}

test('signing in to Studio sets a cookie that scripts cannot read and other sites cannot send', async () => {
  expect((await http.get('/studio/session')).body).toMatchObject({ signed_in: false, authentication: true });
  const answer = await http.post('/studio/session', { key: 'operator' }, OWN);
  expect(answer.body).toMatchObject({ signed_in: true, scope: 'admin', unrestricted: true, user: null });
  const cookie = String(answer.headers['set-cookie']);
  for (const part of ['HttpOnly', 'SameSite=Strict', 'Path=/', 'Max-Age=43200'])
    expect(cookie).toContain(part);
  expect(cookie).not.toContain('operator');
});

test('over HTTPS, even behind an untrusted proxy, the session cookie is Secure and limited to this host', async () => {
  const browser = { ...OWN, origin: 'https://agents.example' };
  const answer = await http.post('/studio/session', { key: 'operator' }, browser);
  const cookie = String(answer.headers['set-cookie']);
  expect(cookie).toMatch(/^__Host-agent_server_[0-9a-f]{8}=/);
  expect(cookie).toContain('; Secure');
  const session = { ...OWN, cookie: cookie.split(';')[0] as string };
  expect((await http.get('/studio/session', session)).body).toMatchObject({ signed_in: true });
  const ended = await http.send('DELETE', '/studio/session', undefined, { ...session, ...browser });
  expect(String(ended.headers['set-cookie'])).toMatch(
    /^__Host-agent_server_[0-9a-f]{8}=;.*Max-Age=0.*Secure/,
  );
});

test('a session has the rights of its key', async () => {
  const own = { ...OWN, ...(await signIn({ key: 'operator' })) };
  expect((await http.get('/keys', own)).status).toBe(200);
  expect((await http.post('/threads', {}, own)).status).toBe(200);
  const reader = { ...OWN, ...(await signIn({ key: (await newKey('read')).key })) };
  expect((await http.get('/studio/session', reader)).body).toMatchObject({ scope: 'read' });
  expect((await http.post('/threads/search', {}, reader)).status).toBe(200);
  expect((await http.post('/threads', {}, reader)).status).toBe(403);
});

test('a page of another site cannot use the session or sign in', async () => {
  const session = await signIn({ key: 'operator' });
  expect((await http.post('/threads', {}, { ...FOREIGN, ...session })).status).toBe(403);
  expect((await http.post('/threads', {}, { host: OWN.host, ...session })).status).toBe(403);
  expect((await http.post('/studio/session', { key: 'operator' }, FOREIGN)).status).toBe(403);
  const proxied = { ...FOREIGN, 'sec-fetch-site': 'same-origin', ...session };
  expect((await http.post('/threads', {}, proxied)).status).toBe(200);
});

test('a page of another port cannot use the session, not even by an image or a frame', async () => {
  const session = await signIn({ key: 'operator' });
  const { body: thread } = await http.post('/threads', {}, { 'x-api-key': 'operator' });
  const sleeping = { assistant_id: 'sleeper', input: { ms: 60_000 } };
  const created = await http.post(`/threads/${thread.thread_id}/runs`, sleeping, { 'x-api-key': 'operator' });
  const join = `/threads/${thread.thread_id}/runs/${created.body.run_id}/join?cancel_on_disconnect=true`;
  for (const site of ['same-site', 'cross-site']) {
    const picture = { host: OWN.host, 'sec-fetch-site': site, ...session };
    expect((await http.get(join, picture)).status).toBe(403);
    expect((await http.get('/threads/count', { ...picture, origin: OWN.origin })).status).toBe(403);
    const signingIn = { ...OWN, 'sec-fetch-site': site };
    expect((await http.post('/studio/session', { key: 'operator' }, signingIn)).status).toBe(403);
  }
  const typed = { host: OWN.host, 'sec-fetch-site': 'none', ...session };
  expect((await http.get('/keys', typed)).status).toBe(200);
  const linked = { host: OWN.host, accept: 'text/html', 'sec-fetch-site': 'same-site', ...session };
  expect((await http.get('/', linked)).headers['location']).toBe('/studio');
});

test('an image request without Sec-Fetch headers cannot cancel a run by disconnecting', async () => {
  const session = { host: OWN.host, ...(await signIn({ key: 'operator' })) };
  const { body: thread } = await http.post('/threads', {}, { 'x-api-key': 'operator' });
  const run = { assistant_id: 'echo', input: {} };
  const created = await http.post(`/threads/${thread.thread_id}/runs`, run, { 'x-api-key': 'operator' });
  const path = `/threads/${thread.thread_id}/runs/${created.body.run_id}`;
  expect((await http.get(`${path}/join`, session)).status).toBe(200);
  const asking = ['cancel_on_disconnect=true', 'x=1&cancel%5Fon_disconnect=1'];
  const ways = [`${path}/join`, `${path}/stream`, `/runs/${created.body.run_id}/stream`];
  for (const url of ways.flatMap((way) => asking.map((query) => `${way}?${query}`))) {
    expect([url, (await http.get(url, session)).status]).toEqual([url, 403]);
    const own = { ...session, 'sec-fetch-site': 'same-origin' };
    expect([url, (await http.get(url, own)).status]).toEqual([url, 200]);
  }
});

test('a custom route accepts a session only if the browser names the requesting site', async () => {
  const folder = resolve(import.meta.dirname, '../../fixtures/own-app');
  const app = { app: './hono.ts:app', enable_custom_route_auth: true };
  await using own = await openApp({ graphs: ['echo'], folder, environment: ENVIRONMENT, http: app });
  const cookie = cookieOf(await own.post('/studio/session', { key: 'operator' }, OWN));
  const status = async (url: string, headers: object) =>
    (await own.get(url, { host: OWN.host, cookie, ...headers })).status;
  expect(await status('/own/hello', {})).toBe(403);
  expect(await status('/own/hello', { 'sec-fetch-site': 'same-site' })).toBe(403);
  expect(await status('/own/hello', { 'sec-fetch-site': 'same-origin' })).toBe(200);
  expect(await status('/own/hello', { 'sec-fetch-site': 'none' })).toBe(200);
  expect(await status('/own/hello', { 'x-api-key': 'operator' })).toBe(200);
  expect(await status('/keys', {})).toBe(200);
});

test('a page of another port can use its own token although the browser also has a session', async () => {
  const session = await signIn({ key: 'operator' });
  const { body } = await http.post('/auth/tokens', { user: 'jane' }, { 'x-api-key': 'operator' });
  const page = { host: OWN.host, 'sec-fetch-site': 'same-site', ...session };
  expect((await http.get(`/assistants/echo?access_token=${body.token}`, page)).status).toBe(200);
  expect((await http.get(`/keys?access_token=${body.token}`, { ...OWN, ...session })).status).toBe(403);
  expect((await http.get('/assistants/echo?access_token=none', page)).status).toBe(401);
});

test('a session does not affect what auth handlers accept from other pages', async () => {
  const folder = resolve(import.meta.dirname, '../../fixtures/auth');
  await using own = await openApp({ graphs: ['echo'], folder, environment: ENVIRONMENT });
  const begun = await own.post('/studio/session', { key: 'operator' }, OWN);
  const page = { ...FOREIGN, 'sec-fetch-site': 'same-site', cookie: cookieOf(begun) };
  const { status, body } = await own.post('/threads?token=alice-token', {}, page);
  expect([status, body.metadata]).toEqual([200, { owner: 'alice' }]);
  expect((await own.post('/threads', {}, page)).status).toBe(401);
});

test('after signing out, a copy of the cookie is refused, also one of another view of the session', async () => {
  const session = { ...OWN, ...(await signIn({ key: 'operator' })) };
  const viewing = await http.post('/studio/session', { view_as: 'jane' }, session);
  const copies = [session, { ...OWN, cookie: cookieOf(viewing) }];
  const other = { ...OWN, ...(await signIn({ key: 'operator' })) };
  for (const copy of copies) expect((await http.post('/threads/count', {}, copy)).status).toBe(200);
  expect((await http.send('DELETE', '/studio/session', undefined, session)).status).toBe(200);
  for (const copy of copies) {
    expect((await http.post('/threads/count', {}, copy)).status).toBe(401);
    expect((await http.get('/studio/session', copy)).body).toMatchObject({ signed_in: false });
  }
  expect((await http.post('/threads/count', {}, other)).status).toBe(200);
});

test('revoking a key ends its sessions', async () => {
  const { key, key_id } = await newKey('admin');
  const session = { ...OWN, ...(await signIn({ key })) };
  expect((await http.send('DELETE', `/keys/${key_id}`, undefined, session)).status).toBe(204);
  expect((await http.get('/threads/count', session)).status).toBe(401);
  expect((await http.get('/studio/session', session)).body).toMatchObject({ signed_in: false });
});

test('signing in with a wrong key, a foreign cookie or an empty body is refused', async () => {
  expect((await http.post('/studio/session', { key: 'wrong' }, OWN)).status).toBe(401);
  expect((await http.post('/studio/session', {}, OWN)).status).toBe(422);
  const [name] = (await signIn({ key: 'operator' })).cookie.split('=');
  for (const value of ['', 'x', 'ey.J.A']) {
    const answer = await http.post('/threads/search', {}, { ...OWN, cookie: `${name}=${value}` });
    expect(answer.status).toBe(401);
  }
});

test('a session reports whether another one has the same caller, but not who that is', async () => {
  const { key, key_id } = await newKey('read');
  const callerOf = async (body: object) => {
    const begun = await http.post('/studio/session', body, OWN);
    const { body: read } = await http.get('/studio/session', { ...OWN, cookie: cookieOf(begun) });
    expect(read.caller).toBe(begun.body.caller);
    return begun.body.caller as string;
  };
  const operator = await callerOf({ key: 'operator' });
  expect(await callerOf({ key: 'operator' })).toBe(operator);
  expect(await callerOf({ key: 'operator', view_as: 'jane' })).toBe(operator);
  const reader = await callerOf({ key });
  expect(reader).not.toBe(operator);
  expect(reader).not.toContain(key_id);
  expect((await http.get('/studio/session')).body.caller).toBeNull();
});

test('a browser token is a different caller from the key that created it', async () => {
  const callerOf = async (body: object) => {
    const begun = await http.post('/studio/session', body, OWN);
    expect(begun.body.caller).toEqual(expect.any(String));
    return begun.body.caller as string;
  };
  const ofToken = async (grant: object) => {
    const { body } = await http.post('/auth/tokens', grant, { 'x-api-key': 'operator' });
    return callerOf({ token: body.token });
  };
  const key = await callerOf({ key: 'operator' });
  const { thread_id } = (await http.post('/threads', {}, { 'x-api-key': 'operator' })).body;
  const grants = [{ thread_id }, { assistant_id: 'echo' }, { user: 'jane' }];
  const callers = await Promise.all(grants.map(ofToken));
  expect(new Set([key, ...callers]).size).toBe(4);
  expect(await Promise.all(grants.map(ofToken))).toEqual(callers);
});

test('an administrator can view as a user, and stop it', async () => {
  const session = { ...OWN, ...(await signIn({ key: 'operator' })) };
  await http.post('/threads', { metadata: { owner: 'bob' } }, session);
  const viewing = await http.post('/studio/session', { view_as: 'jane' }, session);
  expect(viewing.body).toMatchObject({ viewing_as: 'jane', unrestricted: false });
  const jane = { ...OWN, cookie: cookieOf(viewing) };
  const { body: thread } = await http.post('/threads', {}, jane);
  expect((await http.post('/threads/search', {}, jane)).body).toMatchObject([
    { thread_id: thread.thread_id },
  ]);
  expect((await http.get('/keys', jane)).status).toBe(403);
  expect(JSON.stringify(http.log).includes('"user":"jane"')).toBe(true);
  const back = await http.post('/studio/session', { view_as: null }, jane);
  expect(back.body).toMatchObject({ viewing_as: null, unrestricted: true });

  const limited = { ...OWN, ...(await signIn({ key: (await newKey('run')).key })) };
  expect((await http.post('/studio/session', { view_as: 'jane' }, limited)).status).toBe(403);
});

test('after signing out of Studio, a key is required again', async () => {
  const session = await signIn({ key: 'operator' });
  const answer = await http.send('DELETE', '/studio/session', undefined, { ...OWN, ...session });
  expect(String(answer.headers['set-cookie'])).toContain('Max-Age=0');
  expect(answer.body).toMatchObject({ signed_in: false });
});

test('studio.trace_url is returned only to signed-in users, and requires an http URL with the id', async () => {
  const trace_url = 'https://tempo.example/trace/{trace_id}';
  await using traced = await openApp({ graphs: ['echo'], environment: ENVIRONMENT, studio: { trace_url } });
  expect((await traced.get('/studio/session')).body).toMatchObject({ signed_in: false, trace_url: null });
  const answer = await traced.post('/studio/session', { key: 'operator' }, OWN);
  const session = { ...OWN, cookie: cookieOf(answer) };
  expect((await traced.get('/studio/session', session)).body).toMatchObject({ trace_url });

  for (const wrong of ['javascript:alert("{trace_id}")', 'https://tempo.example', '/trace/{trace_id}', '']) {
    expect([wrong, STUDIO.schema.safeParse({ trace_url: wrong }).success]).toEqual([wrong, false]);
  }
});

test('with studio.read_only a session cannot change anything', async () => {
  await using readOnly = await openApp({
    graphs: ['echo'],
    environment: ENVIRONMENT,
    studio: { read_only: true },
  });
  const answer = await readOnly.post('/studio/session', { key: 'operator' }, OWN);
  const session = { ...OWN, cookie: cookieOf(answer) };
  expect(answer.body).toMatchObject({ scope: 'read', read_only: true });
  expect((await readOnly.post('/threads/search', {}, session)).status).toBe(200);
  expect((await readOnly.post('/threads', {}, session)).status).toBe(403);

  const deploys = { name: 'ci', scope: 'deployments:write' };
  const { body } = await readOnly.post('/keys', deploys, { 'x-api-key': 'operator' });
  const narrow = { ...OWN, cookie: cookieOf(await readOnly.post('/studio/session', { key: body.key }, OWN)) };
  expect((await readOnly.post('/threads/search', {}, narrow)).status).toBe(403);
});

test('without authentication everything is open, and no session is created', async () => {
  await using open = await openApp({ graphs: ['echo'] });
  expect((await open.get('/studio/session')).body).toMatchObject({ signed_in: true, authentication: false });
  expect((await open.post('/studio/session', { key: 'any' })).status).toBe(422);
});

test('the root redirects a browser to Studio and returns the health to a program', async () => {
  const browser = await http.get('/', { accept: 'text/html,application/xhtml+xml' });
  expect([browser.status, browser.headers['location']]).toEqual([302, '/studio']);
  expect((await http.get('/')).body).toMatchObject({ ok: true });
  await using without = await openApp({ graphs: ['echo'], http: { disable_studio: true } });
  expect((await without.get('/', { accept: 'text/html' })).body).toMatchObject({ ok: true });
  expect((await without.get('/studio')).status).toBe(404);
  expect((await without.get('/studio/%ff')).status).toBe(400);
});

test('with Studio disabled, a session from before is no credential', async () => {
  const folder = await makeDataFolder();
  const at = { DATABASE_URI: `sqlite:${join(folder, 'server.db')}` };
  const environment = { ...ENVIRONMENT, ...at };
  const parts = { graphs: ['echo'], environment, one_process: 'it has the database of the other' };
  const before = await openApp(parts);
  const cookie = cookieOf(await before.post('/studio/session', { key: 'operator' }, OWN));
  const session = { ...OWN, cookie };
  expect((await before.post('/threads/search', {}, session)).status).toBe(200);
  await before[Symbol.asyncDispose]();
  await using without = await openApp({ ...parts, http: { disable_studio: true } });
  expect((await without.post('/threads/search', {}, session)).status).toBe(401);
});

import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import { openApp } from '../support/app.ts';
import { keyFile } from '../support/keys.ts';
import { agentServer } from '../support/program.ts';

const OPERATOR = { 'x-api-key': 'operator' };
const open = () => openApp({ graphs: ['echo'], environment: { AGENT_SERVER_API_KEYS: 'operator' } });

type Server = Awaited<ReturnType<typeof open>>;

async function create(server: Server, body: object = { name: 'backend' }) {
  const created = await server.post('/keys', body, OPERATOR);
  expect(created.status).toBe(200);
  return created.body as { key: string; key_id: string };
}

const statusWith = async (server: Server, key: string) =>
  (await server.post('/threads/count', {}, { 'x-api-key': key })).status;

test('an API key works immediately, is shown once, and is rejected as soon as it is revoked', async () => {
  await using server = await open();
  const created = await server.post('/keys', { name: 'backend', scope: 'read' }, OPERATOR);
  expect(created.headers['cache-control']).toBe('no-store');
  const { key, ...shown } = created.body;
  expect(key).toMatch(/^ask_[\w-]{43}$/);
  expect(shown).toEqual({
    key_id: expect.any(String),
    name: 'backend',
    scope: 'read',
    created_at: expect.any(String),
    expires_at: null,
    revoked_at: null,
    last_used_at: null,
  });
  expect(await statusWith(server, key)).toBe(200);
  expect((await server.post('/threads', {}, { 'x-api-key': key })).status).toBe(403);

  const listed = await server.get('/keys', OPERATOR);
  expect(listed.body).toEqual([{ ...shown, last_used_at: expect.any(String) }]);
  expect(listed.text).not.toContain(key);

  expect((await server.send('DELETE', `/keys/${shown.key_id}`, undefined, OPERATOR)).status).toBe(204);
  expect(await statusWith(server, key)).toBe(401);
  expect((await server.get('/keys', OPERATOR)).body).toMatchObject([{ revoked_at: expect.any(String) }]);
});

test('the tokens of an API key are revoked with it', async () => {
  await using server = await open();
  const { key, key_id } = await create(server);
  const made = await server.post('/auth/tokens', { user: 'jane' }, { 'x-api-key': key });
  const jane = { authorization: `Bearer ${made.body.token}` };
  expect((await server.post('/threads/count', {}, jane)).status).toBe(200);

  await server.send('DELETE', `/keys/${key_id}`, undefined, OPERATOR);
  expect((await server.post('/threads/count', {}, jane)).status).toBe(401);
});

test('an API key can expire', async () => {
  const clock = { ms: Date.now(), now: () => clock.ms, monotonic: () => clock.ms };
  await using server = await openApp({
    graphs: ['echo'],
    clock,
    environment: { AGENT_SERVER_API_KEYS: 'operator' },
  });
  const { key } = await create(server, { name: 'short', expires_in_days: 2 });
  clock.ms += 47 * 3_600_000;
  expect(await statusWith(server, key)).toBe(200);
  clock.ms += 3_600_000;
  expect(await statusWith(server, key)).toBe(401);
});

test('revoking a missing API key is 404', async () => {
  await using server = await open();
  const { key_id } = await create(server);
  const revoke = (id: string) => server.send('DELETE', `/keys/${id}`, undefined, OPERATOR);
  await revoke(key_id);
  const detail = `API key ${key_id} not found, or already revoked`;
  expect(await revoke(key_id)).toMatchObject({ status: 404, body: { detail } });
  expect((await revoke(crypto.randomUUID())).status).toBe(404);
  expect((await revoke('operator')).status).toBe(422);
});

test.each([
  [{}, /name/],
  [{ name: '' }, /name/],
  [{ name: 'a', scope: 'all' }, /scope/],
  [{ name: 'a', expires_in_days: 0 }, /expires_in_days.*from 0\.001 to 36500/],
])('a key request with %j is refused', async (body, detail) => {
  await using server = await open();
  const refused = await server.post('/keys', body, OPERATOR);
  expect([refused.status, refused.text]).toEqual([422, expect.stringMatching(detail)]);
});

test('API keys with a smaller scope cannot manage keys', async () => {
  await using server = await open();
  const { key } = await create(server, { name: 'backend', scope: 'run' });
  const limited = { 'x-api-key': key };
  const { key_id } = await create(server);
  for (const answer of [
    await server.get('/keys', limited),
    await server.post('/keys', { name: 'mine', scope: 'admin' }, limited),
    await server.send('DELETE', `/keys/${key_id}`, undefined, limited),
  ])
    expect([answer.status, answer.text]).toEqual([403, expect.stringContaining('scope \\"admin\\"')]);
  expect((await server.get('/keys', OPERATOR)).body).toHaveLength(2);
});

test('a server without authentication creates no API key', async () => {
  await using server = await openApp({ graphs: ['echo'] });
  const refused = await server.post('/keys', { name: 'planted', scope: 'admin' });
  expect([refused.status, Object.keys(refused.body)]).toEqual([403, ['detail']]);
  expect((await server.get('/keys')).body).toEqual([]);
});

test('users cannot manage API keys, even with all rights on their own rows', async () => {
  const folder = resolve(import.meta.dirname, '../fixtures/auth');
  await using server = await openApp({
    graphs: ['echo'],
    folder,
    environment: { AGENT_SERVER_API_KEYS: 'operator' },
  });
  const { key_id } = await create(server);
  for (const token of ['alice-token', 'bob-token']) {
    const user = { authorization: `Bearer ${token}` };
    expect((await server.get('/keys', user)).status).toBe(403);
    expect((await server.post('/keys', { name: 'mine' }, user)).status).toBe(403);
    expect((await server.send('DELETE', `/keys/${key_id}`, undefined, user)).status).toBe(403);
  }
});

test('API keys of the command line and of the API are the same', async () => {
  await using file = await keyFile();
  await using server = await openApp({ graphs: ['echo'], environment: file.environment });
  const admin = { 'x-api-key': (await file.make()).key };
  const env = { DATABASE_URI: file.environment.DATABASE_URI };
  const cwd = resolve(import.meta.dirname, '../fixtures/graphs');
  const { stdout } = await agentServer(['keys', 'create', '--name', 'ops'], { cwd, env });
  expect(await statusWith(server, stdout.trim())).toBe(200);

  const [, listed] = (await server.get('/keys', admin)).body;
  expect(listed).toMatchObject({ name: 'ops', scope: 'run' });
  const revoked = await agentServer(['keys', 'revoke', '--id', listed.key_id], { cwd, env });
  expect(revoked.code).toBe(0);
  expect((await server.get('/keys', admin)).body[1].revoked_at).toEqual(expect.any(String));
});

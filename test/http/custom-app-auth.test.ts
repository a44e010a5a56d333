import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import { openApp } from '../support/app.ts';

const folder = resolve(import.meta.dirname, '../fixtures/own-app');
const HONO = '../own-app/hono.ts:app';
const HANDLER = '../own-app/others.ts:handler';
const KEYS = { AGENT_SERVER_API_KEYS: 'sesame' };
const KEY = { 'x-api-key': 'sesame' };
const ALICE = { authorization: 'Bearer alice-token' };

const ORDERS = ['middleware_first', 'auth_first'] as const;
const APPS = [HONO, HANDLER];
const EACH = ORDERS.flatMap((order) => APPS.map((app) => [order, app] as const));

test.each(EACH)(
  '%s: custom routes of %s need no key, but those of the server do',
  async (middleware_order, app) => {
    await using server = await openApp({
      graphs: ['echo'],
      folder,
      environment: KEYS,
      http: { app, middleware_order },
    });
    expect((await server.get('/own/hello')).status).toBe(200);
    for (const [url, key, status] of [
      ['/threads/count', {}, 401],
      ['/threads/count', KEY, 200],
      ['/nope', {}, 401],
      ['/nope', KEY, 404],
    ] as const) {
      expect([url, (await server.post(url, {}, key)).status]).toEqual([url, status]);
    }
  },
);

test.each(EACH)('%s: custom routes of %s require a key if configured', async (middleware_order, app) => {
  await using server = await openApp({
    graphs: ['echo'],
    folder,
    environment: KEYS,
    http: { app, middleware_order, enable_custom_route_auth: true },
  });
  const refused = await server.get('/own/hello');
  expect([refused.status, refused.body]).toEqual([401, { detail: 'Missing X-Api-Key header' }]);
  expect((await server.get('/own/hello', KEY)).status).toBe(200);
  expect((await server.get('/ok')).status).toBe(200);
});

test.each(EACH)(
  '%s: custom routes of %s require the scope of a key to fit',
  async (middleware_order, app) => {
    await using server = await openApp({
      graphs: ['echo'],
      folder,
      environment: KEYS,
      http: { app, middleware_order, enable_custom_route_auth: true },
    });
    const statuses = async (scope: string) => {
      const { body } = await server.post('/keys', { name: scope, scope }, KEY);
      const own = { 'x-api-key': body.key };
      return [(await server.get('/own/hello', own)).status, (await server.post('/own/none', {}, own)).status];
    };
    expect(await statuses('run')).toEqual([200, 404]);
    expect(await statuses('read')).toEqual([200, 403]);
    expect(await statuses('deployments:write')).toEqual([403, 403]);
  },
);

test('without routes that require a key, a path that is unknown is a 404 for a key of any scope', async () => {
  await using server = await openApp({ graphs: ['echo'], folder, environment: KEYS, http: { app: HONO } });
  const { body } = await server.post('/keys', { name: 'reader', scope: 'read' }, KEY);
  expect((await server.post('/own/none', {}, { 'x-api-key': body.key })).status).toBe(404);
});

test('middleware of a custom app sees a request before or after authentication, as configured', async () => {
  const stopped = async (middleware_order: (typeof ORDERS)[number]) => {
    await using server = await openApp({
      graphs: ['echo'],
      folder,
      environment: KEYS,
      http: { app: HONO, middleware_order },
    });
    return (await server.post('/threads/count?stop', {})).status;
  };
  expect([await stopped('middleware_first'), await stopped('auth_first')]).toEqual([200, 401]);
});

test('custom routes receive the authenticated caller', async () => {
  for (const [app, url] of [
    [HONO, '/own/user'],
    [HANDLER, '/own/hello'],
  ] as const) {
    await using server = await openApp({
      graphs: ['echo'],
      folder: resolve(folder, '../auth'),
      http: { app, enable_custom_route_auth: true },
    });
    expect(Object.values((await server.get(url, ALICE)).body)).toEqual(['alice']);
  }
});

test('a request that passes through the custom app is authenticated once', async () => {
  await using server = await openApp({
    graphs: ['echo'],
    folder: resolve(folder, '../auth'),
    http: { app: HONO, middleware_order: 'auth_first' },
  });
  const thread = await server.post('/threads', {}, ALICE);
  expect(thread.body.metadata).toEqual({ owner: 'alice' });
  expect((await server.post('/threads', {}, {})).status).toBe(401);
});

import { afterAll, expect, test } from 'vitest';
import { RESERVED_PATHS } from '../../../src/extensions/studio/settings.ts';
import { openApp } from '../../support/app.ts';
import { declaredRoutes } from '../../support/declared-routes.ts';

const http = await openApp({
  graphs: ['echo'],
  environment: { AGENT_SERVER_API_KEYS: 'operator' },
  http: { mount_prefix: '/con' },
  studio: { path: '/console' },
});
afterAll(() => http[Symbol.asyncDispose]());

test('Studio is served only at the configured path', async () => {
  const page = await http.get('/con/console/runs/1');
  expect(page.headers['content-type']).toBe('text/html; charset=utf-8');
  expect(page.headers['content-security-policy']).toContain("default-src 'none'");
  expect((await http.get('/con/console/component-frame.html')).headers['content-security-policy']).toContain(
    'sandbox',
  );
  expect((await http.get('/con/studio', { 'x-api-key': 'operator' })).status).toBe(404);
  expect((await http.get('/con/', { accept: 'text/html' })).headers['location']).toBe('/con/console');
  expect((await http.get('/con/console/runs/%ff')).headers['location']).toBe('../runs/%25ff');
});

test('the session of Studio at another path has the usual URL, and a cookie for the whole API', async () => {
  const answer = await http.post(
    '/con/studio/session',
    { key: 'operator' },
    { host: 'a', origin: 'http://a' },
  );
  expect(answer.status).toBe(200);
  expect(answer.headers['set-cookie']).toContain('Path=/con;');
  const cookie = String(answer.headers['set-cookie']).split(';')[0] as string;
  expect((await http.get('/con/threads/count', { cookie })).status).not.toBe(401);
});

test('Studio cannot be mounted at a path that is in use', async () => {
  const environment = {
    LANGGRAPH_HTTP: '{"openai":{"enabled":true}}',
    AGENT_SERVER_DEPLOYMENTS: 'true',
    AGENT_SERVER_API_KEYS: 'operator',
  };
  const routes = await declaredRoutes(() => openApp({ graphs: ['echo'], environment }));
  const firsts = new Set(routes.map(({ url }) => url.split('/')[1]));
  expect(firsts).toContain('v1');
  const free = [...firsts].filter((first) => first && first !== 'studio' && !RESERVED_PATHS.has(first));
  expect(free).toEqual([]);
});

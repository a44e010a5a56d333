import { afterAll, expect, test } from 'vitest';
import { openApp } from '../support/app.ts';

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

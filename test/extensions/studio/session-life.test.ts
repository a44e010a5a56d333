import { afterAll, expect, test } from 'vitest';
import { openApp } from '../../support/app.ts';

const HOUR_MS = 60 * 60 * 1000;
let now = Date.parse('2026-06-01T08:00:00.000Z');
const http = await openApp({
  graphs: ['echo'],
  environment: { AGENT_SERVER_API_KEYS: 'operator' },
  clock: { now: () => now, monotonic: () => 0 },
});
afterAll(() => http[Symbol.asyncDispose]());

test('a change of view does not extend a session', async () => {
  const { headers, body } = await http.post('/studio/session', { key: 'operator' });
  const cookie = String(headers['set-cookie']).split(';')[0] as string;
  expect(body).toMatchObject({ expires_at: '2026-06-01T20:00:00.000Z' });

  now += 11 * HOUR_MS;
  for (const view_as of ['jane', null]) {
    const changed = await http.post('/studio/session', { view_as }, { cookie });
    expect(changed.body).toMatchObject({ expires_at: '2026-06-01T20:00:00.000Z' });
    expect(String(changed.headers['set-cookie'])).toContain('Max-Age=3600;');
  }
});

test('a session is used although the browser repeats the password of a proxy', async () => {
  const { headers } = await http.post('/studio/session', { key: 'operator' });
  const cookie = String(headers['set-cookie']).split(';')[0] as string;
  expect((await http.get('/keys', { cookie, authorization: 'Basic cHJveHk6c2VjcmV0' })).status).toBe(200);
  expect((await http.get('/keys', { cookie, authorization: 'Bearer wrong' })).status).toBe(401);
});

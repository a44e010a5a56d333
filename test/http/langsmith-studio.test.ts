import { expect, test } from 'vitest';
import { openApp } from '../support/app.ts';

const STUDIO = 'https://smith.langchain.com';
const KEYS = { AGENT_SERVER_API_KEYS: 'sesame' };
const KEY = { 'x-api-key': 'sesame' };
/** What the page sends besides its content. */
const HEADERS = 'content-type,x-api-key,x-auth-scheme,x-tenant-id,x-user-id';

test.each([
  ['without keys', {}],
  ['with keys', KEYS],
])('LangSmith Studio may call a server %s on the network of the user', async (_what, environment) => {
  await using server = await openApp({ graphs: ['echo'], environment });
  for (const [method, path] of [
    ['GET', '/info'],
    ['POST', '/assistants/search'],
    ['PATCH', '/threads/00000000-0000-4000-8000-000000000000'],
    ['POST', '/threads/00000000-0000-4000-8000-000000000000/runs/stream'],
    ['DELETE', '/threads/00000000-0000-4000-8000-000000000000'],
  ] as const) {
    const preflight = {
      origin: STUDIO,
      'access-control-request-method': method,
      'access-control-request-headers': HEADERS,
      'access-control-request-private-network': 'true',
    };
    const { status, headers } = await server.send('OPTIONS', path, undefined, preflight);
    expect([path, status]).toEqual([path, 200]);
    expect(headers).toMatchObject({
      'access-control-allow-origin': '*',
      'access-control-allow-headers': HEADERS,
      'access-control-allow-private-network': 'true',
    });
    expect(headers['access-control-allow-methods']).toContain(method);
  }
});

test('LangSmith Studio can read capabilities, errors, and the location of a created run', async () => {
  await using server = await openApp({ graphs: ['echo'], environment: KEYS });
  const page = { origin: STUDIO, 'x-auth-scheme': 'langsmith' };
  const info = await server.get('/info', { ...page, ...KEY });
  expect(info.headers['access-control-allow-origin']).toBe('*');
  // The flags of the official server, of which it offers what it finds true.
  expect(info.body.flags).toMatchObject({
    assistants: true,
    crons: true,
    langsmith: false,
    langsmith_tracing_replicas: false,
    langsmith_tracing_session_on_runs: false,
  });
  expect(info.body.host).toEqual({
    kind: 'self-hosted',
    project_id: null,
    host_revision_id: null,
    revision_id: null,
    tenant_id: null,
  });

  const refused = await server.post('/assistants/search', {}, page);
  expect([refused.status, refused.headers['access-control-allow-origin']]).toEqual([401, '*']);
  const { thread_id } = (await server.post('/threads', {}, { ...page, ...KEY })).body;
  const run = { assistant_id: 'echo', input: { x: 1 }, stream_mode: ['values'] };
  const streamed = await server.post(`/threads/${thread_id}/runs/stream`, run, { ...page, ...KEY });
  expect(streamed.status).toBe(200);
  expect(streamed.text).toContain('event: values');
  expect(streamed.headers).toMatchObject({ 'access-control-allow-origin': '*' });
  expect(String(streamed.headers['access-control-expose-headers'])).toContain('content-location');
  expect(String(streamed.headers['content-location'])).toContain(`/threads/${thread_id}/runs/`);
});

import { Auth, HTTPException } from '@langchain/langgraph-sdk/auth';
import { expect, test } from 'vitest';
import { systemActor } from '../../src/auth/actor.ts';
import type { Caller } from '../../src/auth/authenticate.ts';
import { authorize } from '../../src/auth/authorize.ts';
import { customAuth } from '../../src/auth/custom.ts';
import { authHandlers } from '../../src/auth/handlers.ts';

/** Stands still until a test moves it. */
function clock() {
  let ms = 0;
  return { now: () => ms, monotonic: () => ms, advance: (by_ms: number) => (ms += by_ms) };
}

function caller(headers: Caller['headers'], url = 'http://a.example/threads?x=1'): Caller {
  return { method: 'POST', url, headers };
}

const open = { studio: false };

test('authenticate receives the request as a standard Request', async () => {
  const seen: unknown[] = [];
  const auth = new Auth().authenticate((request: Request) => {
    seen.push(
      request.method,
      request.url,
      request.headers.get('x-many'),
      request.headers.get('Authorization'),
    );
    return 'ann';
  });
  const { authenticate } = customAuth(authHandlers(auth), open, clock());
  await authenticate(caller({ authorization: 'Bearer t', 'x-many': ['1', '2'] }));
  await authenticate(caller({}, 'http://not a host/threads'));
  expect(seen).toEqual([
    'POST',
    'http://a.example/threads?x=1',
    '1, 2',
    'Bearer t',
    'POST',
    'http://localhost/',
    null,
    null,
  ]);
});

test('decisions are cached by the configured headers for a limited time, and refusals are not', async () => {
  let asked = 0;
  const auth = new Auth().authenticate((request: Request) => {
    asked += 1;
    if (request.headers.get('authorization') === 'bad') throw new HTTPException(401);
    return request.headers.get('authorization') ?? 'nobody';
  });
  const time = clock();
  const cache = { cache_keys: ['Authorization', 'X-Team'], ttl_seconds: 10, max_size: 2 };
  const { authenticate } = customAuth(authHandlers(auth), { ...open, cache }, time);
  const who = async (headers: Caller['headers']) => (await authenticate(caller(headers))).user?.identity;

  expect([await who({ authorization: 'a' }), await who({ authorization: 'a' }), asked]).toEqual([
    'a',
    'a',
    1,
  ]);
  expect([await who({ authorization: 'a', 'x-team': 'red' }), asked]).toEqual(['a', 2]);
  expect([await who({ authorization: 'b' }), await who({ authorization: 'a' }), asked]).toEqual([
    'b',
    'a',
    4,
  ]);
  time.advance(10_000);
  expect([await who({ authorization: 'a' }), asked]).toEqual(['a', 5]);
  await expect(who({ authorization: 'bad' })).rejects.toMatchObject({ status: 401 });
  await expect(who({ authorization: 'bad' })).rejects.toMatchObject({ status: 401 });
  expect([await who({}), await who({}), asked]).toEqual(['nobody', 'nobody', 9]);
});

test('a caller that claims to be Studio neither gets a cached identity nor leaves its own in the cache', async () => {
  const auth = new Auth().authenticate(() => 'ann');
  const cache = { cache_keys: ['authorization'], ttl_seconds: 10, max_size: 2 };
  const { authenticate } = customAuth(authHandlers(auth), { studio: true, cache }, clock());
  const who = async (headers: Caller['headers']) => (await authenticate(caller(headers))).user?.identity;
  const studio = { 'x-auth-scheme': 'langsmith' };

  expect([await who({ authorization: 'a' }), await who({ authorization: 'a', ...studio })]).toEqual([
    'ann',
    'langgraph-studio-user',
  ]);
  expect([await who({ authorization: 'b', ...studio }), await who({ authorization: 'b' })]).toEqual([
    'langgraph-studio-user',
    'ann',
  ]);
});

test.each([
  ['a result without an identity', () => ({ name: 'ann' })],
  ['no answer', () => undefined],
  ['an error of its own', () => Promise.reject(new Error('down'))],
  ['an exception without a status', () => Promise.reject({ status: 200, message: 'odd' })],
])('%s lets no request in and is not reported as a refusal', async (_what, answer) => {
  const { authenticate } = customAuth(authHandlers(new Auth().authenticate(answer as never)), open, clock());
  await expect(authenticate(caller({}))).rejects.not.toHaveProperty('headers');
});

test('only the most specific handler is called', async () => {
  const asked: string[] = [];
  const note = (name: string) => () => {
    asked.push(name);
  };
  const auth = new Auth()
    .authenticate(() => 'ann')
    .on('*', note('*'))
    .on('*:read', note('*:read'))
    .on('threads', note('threads'))
    .on('threads:create', note('threads:create'));
  const { authenticate } = customAuth(authHandlers(auth), open, clock());
  const actor = { ...systemActor('r'), ...(await authenticate(caller({}))) };
  for (const event of ['threads:create', 'threads:read', 'crons:read', 'store:put'] as const) {
    expect(await authorize(actor, event, {})).toBeUndefined();
  }
  expect(asked).toEqual(['threads:create', 'threads', '*:read', '*']);
});

test('an error thrown by a handler keeps its status, message and headers', async () => {
  const auth = new Auth()
    .authenticate(() => 'ann')
    .on('threads:read', () => false)
    .on('threads:update', () => {
      throw new HTTPException(429, { message: 'Slowly', headers: { 'Retry-After': '9' } });
    })
    .on('threads:delete', () => ({ owner: undefined }) as never);
  const { authenticate } = customAuth(authHandlers(auth), open, clock());
  const actor = { ...systemActor('r'), ...(await authenticate(caller({}))) };
  await expect(authorize(actor, 'threads:read', {})).rejects.toMatchObject({
    status: 403,
    message: 'Forbidden',
  });
  await expect(authorize(actor, 'threads:update', {})).rejects.toMatchObject({
    status: 429,
    message: 'Slowly',
    headers: { 'retry-after': '9' },
  });
  await expect(authorize(actor, 'threads:delete', {})).rejects.toThrow("'owner'");
});

test('a handler that never answers times out', async () => {
  const auth = new Auth()
    .authenticate((request: Request) =>
      request.headers.has('authorization') ? 'ann' : new Promise<string>(() => {}),
    )
    .on('threads', () => new Promise<boolean>(() => {}));
  const handlers = authHandlers(auth, 5);
  const given = {
    status: 503,
    message: 'An auth handler did not answer within 0.005 seconds. Try again later.',
  };
  await expect(handlers.authenticate(caller({}))).rejects.toMatchObject(given);
  const user = await handlers.authenticate(caller({ authorization: 'Bearer t' }));
  await expect(handlers.authorize('threads:read', {}, user)).rejects.toMatchObject(given);
});

test.each([
  ['a response', () => new Response('no', { status: 418 })],
  ['nothing', () => undefined],
  ['null', () => null],
])('a handler that throws %s fails with an error', async (_, thrown) => {
  const auth = new Auth().authenticate(() => {
    throw thrown();
  });
  await expect(authHandlers(auth).authenticate(caller({}))).rejects.toBeInstanceOf(Error);
});

import { type IncomingMessage, request } from 'node:http';
import { text } from 'node:stream/consumers';
import { afterEach, expect, test, vi } from 'vitest';
import { InsufficientStorage, NotFound, Unavailable } from '../../src/core/errors.ts';
import { bareServer } from '../support/bare-server.ts';
import { naming } from '../support/naming.ts';

const ID = '7d9f2c1e-4b6a-4f0e-9c3d-2a8b5e6f1d00';

afterEach(() => {
  vi.useRealTimers();
});

/** A run whose result comes when the test says so. */
function slowRun() {
  const result = Promise.withResolvers<string>();
  result.promise.catch(() => {});
  const asked = Promise.withResolvers<void>();
  const run = { run_id: ID, thread_id: ID, kwargs: {} };
  const abandon = vi.fn(async () => {});
  const until = (...args: unknown[]) => {
    asked.resolve();
    (args.at(-1) as AbortSignal).addEventListener('abort', () => result.reject(new Error('aborted')));
    return result.promise;
  };
  const runs = {
    get: async () => run,
    create: async () => run,
    result: until,
    join: until,
    cancel: until,
    abandon,
  };
  return {
    services: { runs, statelessRuns: { create: async () => run } },
    result,
    abandon,
    asked: asked.promise,
  };
}

function wait(url: string, on_disconnect = 'continue'): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const headers = { origin: 'https://a.example' };
    const sent = request(`${url}/threads/${ID}/runs/wait`, { method: 'POST', headers }, resolve);
    sent.on('error', reject).end(JSON.stringify({ assistant_id: 'echo', on_disconnect }));
  });
}

/** The answer to a wait that has lasted for five seconds. */
async function afterFirstNewline(url: string, on_disconnect?: string): Promise<IncomingMessage> {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  const answered = wait(url, on_disconnect);
  await vi.waitUntil(() => vi.getTimerCount() > 0, 50_000);
  vi.advanceTimersByTime(5000);
  return answered;
}

test('the result of a wait within five seconds is plain JSON', async () => {
  const { services, result } = slowRun();
  result.resolve('{"x":1}');
  await using http = await bareServer({ services });
  const answer = await http.inject({ method: 'POST', url: '/runs/wait', payload: { assistant_id: 'echo' } });
  expect([answer.statusCode, answer.body]).toEqual([200, '{"x":1}']);
  expect(answer.headers).toMatchObject({
    'content-type': 'application/json; charset=utf-8',
    'content-length': '7',
    'content-location': `/threads/${ID}/runs/${ID}`,
    location: `/threads/${ID}/runs/${ID}/join`,
  });
});

test('a wait sends a newline every five seconds to keep the connection alive', async () => {
  const { services, result } = slowRun();
  await using http = await bareServer({ services });
  const answer = await afterFirstNewline(await http.listen());
  expect(answer.statusCode).toBe(200);
  expect(answer.headers).toMatchObject({
    'content-type': 'application/json; charset=utf-8',
    location: `/threads/${ID}/runs/${ID}/join`,
    'access-control-allow-origin': '*',
  });
  vi.advanceTimersByTime(5000);
  result.resolve('{"x":1}');
  expect(await text(answer)).toBe('\n\n{"x":1}');
  expect(vi.getTimerCount()).toBe(0);
});

test('a failure of a wait before the first newline has its own status', async () => {
  const { services, result } = slowRun();
  result.reject(new NotFound('Run not found'));
  await using http = await bareServer({ services });
  const answer = await http.inject(`/threads/${ID}/runs/${ID}/join`);
  expect([answer.statusCode, answer.json()]).toEqual([404, { detail: 'Run not found' }]);
});

test.each([
  [new NotFound('Run not found'), { error: 'NotFound', message: 'Run not found' }],
  [new Error('secret'), { error: 'InternalServerError', message: 'Internal Server Error' }],
])('a failure of a wait after the first newline is the body: %s', async (error, __error__) => {
  const { services, result } = slowRun();
  await using http = await bareServer({ services });
  const answer = await afterFirstNewline(await http.listen());
  result.reject(error);
  expect(JSON.parse(await text(answer))).toEqual({ __error__ });
});

test.each([
  new Unavailable('The database cannot be reached right now.'),
  new InsufficientStorage('The disk of the database is full.'),
])(
  'a wait is aborted after the first newline if the server loses its database, and the run continues: %s',
  async (error) => {
    const { services, result, abandon } = slowRun();
    await using http = await bareServer({ services });
    const answer = await afterFirstNewline(await http.listen(), 'cancel');
    result.reject(error);
    await expect(text(answer)).rejects.toThrow('aborted');
    expect(abandon).not.toHaveBeenCalled();
    expect(http.log.filter(({ level }) => level === 'error')).toMatchObject([
      { message: naming('after its headers') },
    ]);
  },
);

test.each([
  ['cancel', 1],
  ['continue', 0],
])('a client that disconnects from a wait, with on_disconnect %s', async (on_disconnect, times) => {
  const { services, result, abandon, asked } = slowRun();
  await using http = await bareServer({ services });
  const sent = request(await http.listen(), { path: '/runs/wait', method: 'POST' });
  sent.on('error', () => {}).end(JSON.stringify({ assistant_id: 'echo', on_disconnect }));
  await asked;
  sent.destroy();
  await expect(result.promise).rejects.toThrow('aborted');
  expect(abandon).toHaveBeenCalledTimes(times);
});

test('a closing server gives a wait a few seconds, then answers it with 503 and Retry-After', async () => {
  const { services, abandon, asked } = slowRun();
  await using http = await bareServer({ services });
  const answered = wait(await http.listen(), 'cancel');
  await asked;
  const closed = http.server.close();
  const answer = await answered;
  expect([answer.statusCode, answer.headers['retry-after']]).toEqual([503, '1']);
  expect(JSON.parse(await text(answer))).toEqual({ detail: naming('shutting down') });
  await closed;
  expect(abandon).not.toHaveBeenCalled();
});

test('cancelling a run returns at once, or when the run has stopped if requested', async () => {
  const { services, result } = slowRun();
  await using http = await bareServer({ services });
  const cancel = (query: string) =>
    http.inject({ method: 'POST', url: `/threads/${ID}/runs/${ID}/cancel${query}` });
  result.resolve('');
  const atOnce = await cancel('');
  expect([atOnce.statusCode, atOnce.body]).toEqual([202, '']);
  const stopped = await cancel('?wait=1&action=rollback&reason=taken');
  expect([stopped.statusCode, stopped.body]).toEqual([200, '{}']);
  expect(stopped.headers['location']).toBe(`/threads/${ID}/runs/${ID}/join`);
});

import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { Conflict, NotFound, Unavailable } from '../../src/core/errors.ts';
import { bareServer } from '../support/bare-server.ts';

const ID = '7d9f2c1e-4b6a-4f0e-9c3d-2a8b5e6f1d00';

function failing(error: Error) {
  return { threads: { get: async () => Promise.reject(error) } };
}

test('an error of a service is rendered with its status and a detail', async () => {
  await using http = await bareServer({ services: failing(new Conflict('no room')) });
  const answer = await http.inject(`/threads/${ID}`);
  expect([answer.statusCode, answer.json()]).toEqual([409, { detail: 'no room' }]);
  expect(answer.headers['content-type']).toBe('application/json; charset=utf-8');
});

test('an unavailable service responds with Retry-After', async () => {
  await using http = await bareServer({ services: failing(new Unavailable('database restarts')) });
  const answer = await http.inject(`/threads/${ID}`);
  expect([answer.statusCode, answer.headers['retry-after']]).toEqual([503, '1']);
});

test('an unexpected error is a 500 without details, logged once with the request id', async () => {
  const error = new TypeError('postgres://user:secret@host broke');
  await using http = await bareServer({ services: failing(error) });
  const answer = await http.inject({ url: `/threads/${ID}`, headers: { 'x-request-id': 'r-1' } });
  expect([answer.statusCode, answer.json()]).toEqual([500, { detail: 'Internal Server Error' }]);
  const logged = http.log.filter(({ level }) => level === 'error');
  expect(logged).toMatchObject([{ fields: { request_id: 'r-1', path: '/threads/:thread_id', error } }]);
});

test('an unknown path is 404, even with a body that is not JSON', async () => {
  await using http = await bareServer();
  expect((await http.inject('/nope')).json()).toEqual({ detail: 'Not Found' });
  const posted = await http.inject({ method: 'POST', url: '/nope', payload: '{not json' });
  expect([posted.statusCode, posted.json()]).toEqual([404, { detail: 'Not Found' }]);
});

test('a known path with another method is 405 and names the allowed methods', async () => {
  await using http = await bareServer();
  const answer = await http.inject({ method: 'PUT', url: `/threads/${ID}` });
  expect([answer.statusCode, answer.json()]).toEqual([405, { detail: 'Method Not Allowed' }]);
  expect(answer.headers['allow']).toBe('GET, HEAD, PATCH, DELETE');
});

test.each([
  ['GET', '/threads/search', 'POST', 'POST /threads/search'],
  ['DELETE', '/threads/count?a=b', 'POST', 'POST /threads/count'],
  ['GET', `/threads/${ID}/runs/wait`, 'POST', 'POST /threads/{thread_id}/runs/wait'],
  ['GET', '/runs/crons/search', 'POST', 'POST /runs/crons/search'],
])('%s %s is a route and not an id', async (method, url, allow, way) => {
  await using http = await bareServer();
  const answer = await http.inject({ method: method as 'GET', url });
  expect([answer.statusCode, answer.json()]).toEqual([405, { detail: `Method Not Allowed: use ${way}` }]);
  expect(answer.headers['allow']).toBe(allow);
});

test('an assistant with the name of a route can be used', async () => {
  let graph = { graph_id: 'search' } as object | undefined;
  const get = async () => graph ?? Promise.reject(new NotFound('Not Found'));
  await using http = await bareServer({ services: { assistants: { get } } });
  expect((await http.inject('/assistants/search')).json()).toEqual({ graph_id: 'search' });
  graph = undefined;
  expect((await http.inject('/assistants/search')).json()).toEqual({
    detail: 'Method Not Allowed: use POST /assistants/search',
  });
});

test('HEAD on a stream is a 405 that names GET', async () => {
  await using http = await bareServer();
  const answer = await http.inject({ method: 'HEAD', url: `/threads/${ID}/runs/${ID}/stream` });
  expect([answer.statusCode, answer.headers['allow']]).toEqual([405, 'GET']);
});

test('a path with a trailing slash redirects to the one without', async () => {
  await using http = await bareServer();
  const answer = await http.inject({
    method: 'POST',
    url: '/threads/search/?a=b',
    headers: { host: 'agents.example:8123' },
  });
  expect([answer.statusCode, answer.headers['location']]).toEqual([
    307,
    'http://agents.example:8123/threads/search?a=b',
  ]);
  expect((await http.inject('/ok/')).statusCode).toBe(404);
  expect((await http.inject('/nope/')).statusCode).toBe(404);
});

test('a path that cannot be decoded is 400', async () => {
  await using http = await bareServer();
  const answer = await http.inject('/threads/%zz');
  expect([answer.statusCode, answer.json()]).toEqual([400, { detail: 'Invalid URL' }]);
});

test('bytes that are not HTTP get a 400', async () => {
  await using http = await bareServer();
  const { port, hostname } = new URL(await http.listen());
  const socket = connect(Number(port), hostname);
  socket.write('this is not HTTP\r\n\r\n');
  const answer = await text(socket);
  expect(answer).toContain('HTTP/1.1 400 Bad Request\r\n');
  expect(answer.split('\r\n\r\n')[1]).toBe('{"detail":"Bad Request"}');
});

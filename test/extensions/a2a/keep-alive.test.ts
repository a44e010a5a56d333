import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { RequestMalformedError } from '@a2a-js/sdk/errors';
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { A2A_FOLDER as folder, message, routesOver } from '../../support/a2a.ts';
import { nextOf, taskEvents } from '../../support/a2a-events.ts';
import { openApp } from '../../support/app.ts';
import { bareServer } from '../../support/bare-server.ts';
import { httpClient } from '../../support/http-client.ts';
import { until } from '../../support/until.ts';

let server: Awaited<ReturnType<typeof openApp>>;
let url: string;

beforeAll(async () => {
  server = await openApp({ folder, graphs: ['sleeper'] });
  url = (await server.app.listen()).url;
});
afterEach(() => {
  vi.useRealTimers();
});
afterAll(() => server[Symbol.asyncDispose]());

async function working(): Promise<number> {
  return (await server.get('/a2a/sleeper/tasks?status=TASK_STATE_WORKING')).body.totalSize;
}

test.each([
  ['message:stream', ': heartbeat\r\n\r\n'],
  ['message:send', '\n'],
])('an A2A client that waits for %s receives a keep-alive within five seconds', async (verb, sign) => {
  const before = await working();
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  const headers = { 'content-type': 'application/json' };
  const call = request(`${url}/a2a/sleeper/${verb}`, { method: 'POST', headers });
  let heard = '';
  call.on('response', (answer: IncomingMessage) => answer.on('data', (data) => (heard += data)));
  call.end(JSON.stringify({ message: message({ ms: 60_000 }) }));
  await until('it works', async () => (await working()) > before);
  heard = '';
  vi.advanceTimersByTime(4_000);
  await until('a sign of life came', () => heard.includes(sign));
  expect(call.destroyed).toBe(false);
  call.destroy();
  await once(call, 'close');
});

test('a message over HTTP+JSON that is refused after a keep-alive gets the error of A2A as its body', async () => {
  const sent = Promise.withResolvers<void>();
  const refused = Promise.withResolvers<never>();
  const send = () => {
    sent.resolve();
    return refused.promise;
  };
  const routes = [routesOver({ cardDataOf: async () => ({ assistant: {} }), send })];
  await using bare = await bareServer({ extensions: { routes, offAnswer: () => undefined } });
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  using http = httpClient(await bare.listen());
  const answer = http.send('POST', '/a2a/any/message:send', { body: { message: message('Hi') } });
  await sent.promise;
  vi.advanceTimersByTime(4_000);
  refused.reject(new RequestMalformedError('No.'));
  expect(await answer).toMatchObject({
    status: 200,
    body: { error: { code: 400, status: 'INVALID_ARGUMENT', message: 'No.' } },
  });
  expect(bare.log.filter(({ level }) => level === 'error')).toEqual([]);
});

test.each(['SubscribeToTask', 'tasks/resubscribe', ':subscribe'])(
  'an A2A client that reconnects to a silent task by %s is answered at once',
  async (method) => {
    using http = httpClient(url);
    const params = { message: message({ ms: 60_000 }) };
    const events = await taskEvents(http, 'sleeper', { method: 'SendStreamingMessage', params });
    const [task, working] = await nextOf(events, 2);
    await events.return(undefined);
    const id = task?.value.id;
    const path = method.startsWith(':') ? `/a2a/sleeper/tasks/${id}${method}` : '/a2a/sleeper';
    const body = { jsonrpc: '2.0', id: 1, method, params: { id } };
    const headers = { 'last-event-id': working?.id ?? '' };
    const again = await http.stream('POST', path, { body, headers });
    expect(again.status).toBe(200);
    await server.post(`/a2a/sleeper/tasks/${id}:cancel`);
    const [last] = (await Array.fromAsync(again.events)).slice(-1);
    expect(last?.data).toMatch(/"(TASK_STATE_CANCELED|canceled)"/);
  },
);

import { randomUUID } from 'node:crypto';
import { EventEmitter, once } from 'node:events';
import { expect, test } from 'vitest';
import { UNRESTRICTED } from '../../src/auth/actor.ts';
import { Forbidden, Unauthorized, Unavailable } from '../../src/core/errors.ts';
import { silentLogger } from '../../src/core/logger.ts';
import { runSession, type Socket } from '../../src/http/event-streaming/websocket-session.ts';
import { openApp } from '../support/app.ts';
import { bareServer } from '../support/bare-server.ts';
import { endlessSubscription } from '../support/endless-subscription.ts';
import { naming } from '../support/naming.ts';

const OPERATOR = { 'x-api-key': 'operator' };
const environment = { AGENT_SERVER_API_KEYS: 'operator' };
const START = { id: 1, method: 'run.start', params: { assistant_id: 'echo', input: { x: 1 } } };

type Server = Awaited<ReturnType<typeof openApp>>;

async function created(server: Server) {
  return (await server.post('/keys', { name: 'backend', scope: 'run' }, OPERATOR)).body as {
    key: string;
    key_id: string;
  };
}

/** An open socket to a thread that does not exist yet. */
async function connect(server: Server, { query = '', headers = {} } = {}) {
  const thread_id = randomUUID();
  const { url } = await server.app.listen();
  const address = `${url.replace('http', 'ws')}/threads/${thread_id}/stream/events${query}`;
  const socket = new WebSocket(address, { headers } as never);
  const closed = once(socket, 'close') as Promise<[CloseEvent]>;
  await once(socket, 'open');
  return { socket, thread_id, closed: closed.then(([{ code, reason }]) => [code, reason]) };
}

test('a WebSocket whose API key was revoked is closed at the next command', async () => {
  await using server = await openApp({
    graphs: ['echo'],
    environment,
    one_process: 'another one knows a second later',
  });
  const { key, key_id } = await created(server);
  const { socket, thread_id, closed } = await connect(server, { headers: { 'x-api-key': key } });
  await server.send('DELETE', `/keys/${key_id}`, undefined, OPERATOR);
  socket.send(JSON.stringify(START));
  expect(await closed).toEqual([4401, naming('API key', 'revoked')]);
  expect((await server.get(`/threads/${thread_id}`, OPERATOR)).status).toBe(404);
});

test('a WebSocket whose token has expired is closed at the next command', async () => {
  const clock = { ms: Date.now(), now: () => clock.ms, monotonic: () => clock.ms };
  await using server = await openApp({ graphs: ['echo'], environment, clock });
  const grant = { user: 'jane', ttl_seconds: 60 };
  const { token } = (await server.post('/auth/tokens', grant, OPERATOR)).body;
  const { socket, thread_id, closed } = await connect(server, { query: `?access_token=${token}` });
  clock.ms += 61_000;
  socket.send(JSON.stringify(START));
  expect(await closed).toEqual([4401, naming('token', 'expired')]);
  expect((await server.get(`/threads/${thread_id}`, OPERATOR)).status).toBe(404);
});

test('a WebSocket command is executed as the present caller, and gets an error while that cannot be checked', async () => {
  const names = ['ann', 'ann', new Unavailable('the database is away'), 'ann, who was promoted'];
  const callers: unknown[] = [];
  const eventStreaming = {
    connect: async (_actor: unknown, _thread_id: string, _sink: unknown, signal: AbortSignal) => ({
      served: once(signal, 'abort').then(() => {}),
      async command({ id }: { id: number }, { principal }: { principal: string }) {
        callers.push(principal);
        return { type: 'success', id, result: {} };
      },
    }),
  };
  await using server = await bareServer({
    services: { eventStreaming },
    async authenticate() {
      const next = names.shift();
      if (typeof next === 'string') return { ...UNRESTRICTED, principal: next };
      throw next;
    },
  });
  const url = `${(await server.listen()).replace('http', 'ws')}/threads/${randomUUID()}/stream/events`;
  const socket = new WebSocket(url);
  await once(socket, 'open');
  const answers: unknown[] = [];
  for (const id of [1, 2, 3]) {
    socket.send(JSON.stringify({ id, method: 'state.get' }));
    const [{ data }] = (await once(socket, 'message')) as [MessageEvent];
    answers.push(JSON.parse(String(data)));
  }
  expect(answers).toMatchObject([
    { type: 'success', id: 1 },
    { type: 'error', id: 2, error: 'unknown_error', message: '503: the database is away' },
    { type: 'success', id: 3 },
  ]);
  expect(callers).toEqual(['ann', 'ann, who was promoted']);
  socket.close();
});

test.for([
  [new Unauthorized('This API key was revoked'), [4401, naming('API key', 'revoked')]],
  [new Forbidden('Forbidden'), [4403, 'Forbidden']],
] as const)(
  'a WebSocket whose caller is refused is closed, even without a command: %s',
  async ([refusal, code]) => {
    const closed = Promise.withResolvers<unknown>();
    const socket = Object.assign(new EventEmitter(), {
      close: (...why: unknown[]) => closed.resolve(why),
      resume() {},
    }) as unknown as Socket;
    const answers: unknown[] = [new Unavailable('the database is away'), refusal];
    const { eventStreaming, ended } = endlessSubscription();

    runSession(socket, { ...UNRESTRICTED, request_id: 'r' }, 'a-thread', {
      eventStreaming,
      authenticate: () => Promise.reject(answers.shift()),
      authenticate_every_ms: 1,
      count: async () => {},
      logger: silentLogger,
      bodies: { json: async () => ({ value: {} }), count: () => ({ [Symbol.dispose]() {} }) },
    });
    expect(await closed.promise).toEqual(code);
    await ended;
  },
);

test.for(['per_key_per_minute', 'per_address_per_minute'])(
  'WebSocket commands count towards the rate limit: %s',
  async (limit) => {
    await using server = await openApp({
      graphs: ['echo'],
      environment,
      server: { rate_limit: { [limit]: 3 } },
    });
    const { socket } = await connect(server, { headers: OPERATOR });
    const types: unknown[] = [];
    for (const id of [1, 2, 3]) {
      socket.send(JSON.stringify({ id, method: 'subscription.subscribe', params: { channels: ['values'] } }));
      const [{ data }] = (await once(socket, 'message')) as [MessageEvent];
      const { type, error, message } = JSON.parse(String(data));
      types.push(type === 'success' ? type : `${error} ${message}`);
    }
    // The upgrade was the first.
    const refused = naming('unknown_error 429: ', '3 requests');
    expect(types).toEqual(['success', 'success', refused]);
    socket.close();
  },
);

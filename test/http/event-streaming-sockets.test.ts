import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openApp } from '../support/app.ts';
import { naming } from '../support/naming.ts';
import { until } from '../support/until.ts';

let app: Awaited<ReturnType<typeof openApp>>;
let url: string;
beforeAll(async () => {
  app = await openApp({ graphs: ['chat'] });
  url = (await app.app.listen()).url.replace('http', 'ws');
});
afterAll(() => app[Symbol.asyncDispose]());

type Message = Record<string, unknown> & { result?: Record<string, unknown> };

/** A socket whose messages are read one after the other. */
async function connect(thread_id: string) {
  const socket = new WebSocket(`${url}/threads/${thread_id}/stream/events`);
  const messages: Message[] = [];
  const closed = once(socket, 'close') as Promise<[CloseEvent]>;
  let wake = () => {};
  socket.addEventListener('message', ({ data }) => {
    messages.push(JSON.parse(String(data)));
    wake();
  });
  await once(socket, 'open');
  return {
    socket,
    closed,
    send: (message: unknown) => socket.send(typeof message === 'string' ? message : JSON.stringify(message)),
    /** All messages up to the first that is like this. */
    async until(like: (message: Message) => boolean): Promise<Message[]> {
      while (!messages.some(like)) await new Promise<void>((resolve) => (wake = resolve));
      return messages.splice(0, messages.findIndex(like) + 1);
    },
    [Symbol.dispose]: () => socket.close(),
  };
}

const answerTo = (id: number) => (message: Message) => message['id'] === id;
const isEnd = (message: Message) => JSON.stringify(message).includes('"completed"');
const start = { id: 9, method: 'run.start', params: { assistant_id: 'chat', input: { messages: ['hi'] } } };

function subscribe(id: number, params: object) {
  return { id, method: 'subscription.subscribe', params };
}

test('a WebSocket sends nothing before a subscription, and then each event once', async () => {
  using client = await connect(randomUUID());
  client.send(subscribe(1, { channels: ['lifecycle'] }));
  client.send(subscribe(2, { channels: ['lifecycle', 'values'] }));
  client.send(start);
  const told = (await client.until(isEnd)).filter(({ type }) => type === 'event');
  const numbers = told.map(({ seq }) => seq);
  expect(new Set(numbers).size).toBe(numbers.length);
  expect(told.map(({ method }) => method)).toEqual(['lifecycle', 'values', 'values', 'lifecycle']);
});

test('a late WebSocket subscriber gets past events first, then the response', async () => {
  const thread_id = randomUUID();
  using first = await connect(thread_id);
  first.send(subscribe(1, { channels: ['lifecycle'] }));
  first.send(start);
  await first.until(isEnd);
  using late = await connect(thread_id);
  late.send(subscribe(1, { channels: ['values', 'lifecycle'] }));
  const messages = await late.until(answerTo(1));
  expect(messages.map(({ type }) => type)).toEqual(['event', 'event', 'event', 'event', 'success']);
  expect(messages.at(-1)?.result).toEqual({ subscription_id: expect.any(String), replayed_events: 4 });

  const since = messages[1]?.['seq'];
  late.send({ id: 2, method: 'subscription.reconnect', params: { channels: ['values'], since } });
  expect((await late.until(answerTo(2))).at(-1)?.result).toMatchObject({ replayed_events: 1 });
});

test('WebSocket subscriptions sent together are replayed together, in the order of events', async () => {
  const thread_id = randomUUID();
  using first = await connect(thread_id);
  first.send(subscribe(1, { channels: ['lifecycle'] }));
  first.send(start);
  await first.until(isEnd);

  using back = await connect(thread_id);
  back.send(subscribe(1, { channels: ['lifecycle'] }));
  back.send(subscribe(2, { channels: ['values'] }));
  // Each is answered when its own replay is over.
  const isAnswer = ({ type }: Message) => type === 'success';
  const messages = [...(await back.until(isAnswer)), ...(await back.until(isAnswer))];
  expect(messages.filter(({ type }) => type === 'event').map(({ method }) => method)).toEqual([
    'lifecycle',
    'values',
    'values',
    'lifecycle',
  ]);
  expect(messages.filter(isAnswer).sort((a, b) => Number(a['id']) - Number(b['id']))).toMatchObject([
    { id: 1, result: { replayed_events: 2 } },
    { id: 2, result: { replayed_events: 2 } },
  ]);
});

test('a cancelled WebSocket subscription sends no more events', async () => {
  using client = await connect(randomUUID());
  client.send(subscribe(1, { channels: ['values'] }));
  const [answer] = await client.until(answerTo(1));
  client.send({ id: 2, method: 'subscription.unsubscribe', params: answer?.result });
  expect((await client.until(answerTo(2))).at(-1)).toMatchObject({ type: 'success', result: {} });
  client.send({ id: 3, method: 'subscription.unsubscribe', params: answer?.result });
  expect((await client.until(answerTo(3))).at(-1)).toMatchObject({ error: 'no_such_subscription' });
  client.send(subscribe(4, { channels: ['lifecycle'] }));
  client.send(start);
  expect((await client.until(isEnd)).some(({ method }) => method === 'values')).toBe(false);
});

test('a WebSocket subscription that is replaced or cancelled before its replay gets a response', async () => {
  using client = await connect(randomUUID());
  const params = { subscription_id: 'mine', channels: ['values'] };
  client.send({ id: 1, method: 'subscription.reconnect', params });
  client.send({ id: 2, method: 'subscription.reconnect', params });
  client.send({ id: 3, method: 'subscription.unsubscribe', params });
  const answered: unknown[] = [];
  while (answered.length < 3) {
    const messages = await client.until(({ type }) => type === 'success');
    answered.push(...messages.map(({ id }) => id));
  }
  expect(answered.sort()).toEqual([1, 2, 3]);
});

test('a WebSocket has at most a hundred subscriptions, and one that ends makes room', async () => {
  using client = await connect(randomUUID());
  for (let id = 1; id <= 101; id++) {
    client.send({
      id,
      method: 'subscription.reconnect',
      params: { subscription_id: `${id}`, channels: ['values'] },
    });
  }
  expect((await client.until(answerTo(101))).at(-1)).toEqual({
    type: 'error',
    id: 101,
    error: 'invalid_argument',
    message: naming('100 subscriptions'),
  });
  const again = { subscription_id: '7', channels: ['lifecycle'] };
  client.send({ id: 102, method: 'subscription.reconnect', params: again });
  expect((await client.until(answerTo(102))).at(-1)).toMatchObject({ type: 'success' });
  client.send({ id: 103, method: 'subscription.unsubscribe', params: again });
  client.send(subscribe(104, { channels: ['values'] }));
  expect((await client.until(answerTo(104))).at(-1)).toMatchObject({ type: 'success' });
});

test.for([
  ['a long channel', { channels: [`custom:${'x'.repeat(1000)}`] }, 'channels', '1000 characters'],
  ['many channels', { channels: Array(65).fill('values') }, 'channels', '64 entries'],
  ['a long namespace', { namespaces: [['x'.repeat(1024 * 1024)]] }, 'namespaces', '1000 characters'],
  ['many segments', { namespaces: [Array(101).fill('x')] }, 'namespaces', '100 segments'],
  ['many namespaces', { namespaces: Array(257).fill([]) }, 'namespaces', '256 entries'],
] as const)('a subscription filter with %s is refused', async ([_what, filter, field, limit]) => {
  using client = await connect(randomUUID());
  client.send(subscribe(1, { channels: ['values'], ...filter }));
  expect(await client.until(answerTo(1))).toMatchObject([
    { error: 'invalid_argument', message: naming(field, limit) },
  ]);
});

test('the id of a subscription has at most 1000 characters', async () => {
  using client = await connect(randomUUID());
  const params = { subscription_id: 'x'.repeat(1001), channels: ['values'] };
  client.send({ id: 1, method: 'subscription.reconnect', params });
  expect(await client.until(answerTo(1))).toMatchObject([{ error: 'invalid_argument' }]);
});

test('an invalid WebSocket command gets an error, and the socket stays open', async () => {
  using client = await connect(randomUUID());
  const broken = (message: Message) => message['error'] === 'invalid_argument';
  client.send('{');
  expect(await client.until(broken)).toEqual([
    { type: 'error', id: null, error: 'invalid_argument', message: 'Protocol commands must be valid JSON.' },
  ]);
  client.send({ method: 'run.start' });
  expect(await client.until(broken)).toMatchObject([{ id: null, error: 'invalid_argument' }]);
  client.send({ id: 1, method: 'run.dance' });
  expect(await client.until(answerTo(1))).toMatchObject([{ error: 'unknown_command' }]);
});

test('a WebSocket command is executed even if its client disconnects', async () => {
  const thread_id = randomUUID();
  const client = await connect(thread_id);
  client.send(start);
  client.socket.close();
  await client.closed;
  await until('the run is made', async () => (await app.get(`/threads/${thread_id}/runs`)).body.length === 1);
});

test('a WebSocket for an invalid thread id is closed with a code', async () => {
  const { closed } = await connect('nope');
  expect((await closed)[0].code).toBe(4422);
});

test('a stopping server closes its WebSockets', async () => {
  await using stopping = await openApp({ graphs: ['chat'], one_process: 'it is stopped' });
  const address = (await stopping.app.listen()).url.replace('http', 'ws');
  const socket = new WebSocket(`${address}/threads/${randomUUID()}/stream/events`);
  await once(socket, 'open');
  const closed = once(socket, 'close') as Promise<[CloseEvent]>;
  await stopping.app.stop(0);
  expect((await closed)[0].code).toBe(1012);
});

test('a WebSocket client without access gets a close code and no events', async () => {
  await using locked = await openApp({ graphs: ['chat'], environment: { AGENT_SERVER_API_KEYS: 'secret' } });
  const address = (await locked.app.listen()).url.replace('http', 'ws');
  const heard: unknown[] = [];
  const socket = new WebSocket(`${address}/threads/${randomUUID()}/stream/events`);
  socket.addEventListener('message', ({ data }) => heard.push(data));
  const [{ code, reason }] = (await once(socket, 'close')) as [CloseEvent];
  expect([code, reason, heard]).toEqual([4401, 'Missing X-Api-Key header', []]);
});

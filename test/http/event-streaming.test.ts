import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openApp } from '../support/app.ts';
import { type HttpClient, httpClient } from '../support/http-client.ts';
import { naming } from '../support/naming.ts';

let app: Awaited<ReturnType<typeof openApp>>;
let http: HttpClient;
beforeAll(async () => {
  app = await openApp({
    graphs: ['chat', 'interrupting', 'nested', 'nested-tokens', 'parallel-send', 'tokens'],
  });
  http = httpClient((await app.app.listen()).url);
});
afterAll(() => app[Symbol.asyncDispose]());

interface Told {
  readonly event_id: string;
  readonly seq: number;
  readonly method: string;
  readonly params: { readonly namespace: string[]; readonly data: Record<string, unknown> };
}

const EVERYTHING = [
  'values',
  'updates',
  'messages',
  'tools',
  'lifecycle',
  'input',
  'tasks',
  'custom',
  'checkpoints',
];

async function open(thread_id: string, request: object = { channels: EVERYTHING }) {
  const { status, events } = await http.stream('POST', `/threads/${thread_id}/stream/events`, {
    body: request,
  });
  expect(status).toBe(200);
  return events;
}

/** Up to the event of the root graph that says how the run ended. */
async function toEnd(events: Awaited<ReturnType<typeof open>>): Promise<Told[]> {
  const told: Told[] = [];
  for await (const { id, event, data } of events) {
    const parsed = JSON.parse(data) as Told;
    expect([event, id]).toEqual([parsed.method, String(parsed.seq)]);
    told.push(parsed);
    const { namespace, data: what } = parsed.params;
    const ended = ['completed', 'failed', 'interrupted'].includes(String(what['event']));
    if (parsed.method === 'lifecycle' && namespace.length === 0 && ended) break;
  }
  return told;
}

function start(thread_id: string, assistant_id: string, input: unknown) {
  return app.post(`/threads/${thread_id}/commands`, {
    id: 1,
    method: 'run.start',
    params: { assistant_id, input },
  });
}

async function run(assistant_id: string, input: object, request?: object) {
  const thread_id = randomUUID();
  const events = await open(thread_id, request);
  await start(thread_id, assistant_id, input);
  return { thread_id, told: await toEnd(events) };
}

const hello = { messages: [{ role: 'user', content: 'hello' }] };

test('event streaming numbers events from 1 without gaps, identically for all clients', async () => {
  const { thread_id, told } = await run('chat', hello);
  expect(told.map(({ seq }) => seq)).toEqual(told.map((_, index) => index + 1));
  expect(new Set(told.map(({ event_id }) => event_id)).size).toBe(told.length);
  expect(await toEnd(await open(thread_id))).toEqual(told);
  const filtered = await toEnd(await open(thread_id, { channels: ['values', 'lifecycle'] }));
  expect(filtered).toEqual(told.filter(({ method }) => method === 'values' || method === 'lifecycle'));
});

test('since skips the events that a client has seen, across runs', async () => {
  const { thread_id, told } = await run('chat', hello);
  for (const since of [1, 3, told.length - 1]) {
    const rest = await toEnd(await open(thread_id, { channels: EVERYTHING, since }));
    expect(rest).toEqual(told.slice(since));
  }
  const next = await open(thread_id, { channels: EVERYTHING, since: told.length });
  await start(thread_id, 'chat', hello);
  expect((await toEnd(next)).map(({ seq }) => seq).at(0)).toBe(told.length + 1);
});

test('every channel of event streaming has the form of the contract', async () => {
  const { told } = await run('chat', hello);
  const of = (method: string) => told.filter((event) => event.method === method).map(({ params }) => params);
  expect(of('messages').map(({ data }) => data)).toEqual([
    { event: 'message-start', role: 'ai', id: expect.any(String), run_id: expect.any(String) },
    { event: 'content-block-start', index: 0, content: { type: 'text', text: '' } },
    { event: 'content-block-delta', index: 0, delta: { type: 'text-delta', text: 'You said: hello' } },
    { event: 'content-block-finish', index: 0, content: { type: 'text', text: 'You said: hello' } },
    expect.objectContaining({ event: 'message-finish' }),
  ]);
  expect(of('updates')).toMatchObject([
    { namespace: [], node: 'answer', data: { node: 'answer', values: {} } },
  ]);
  expect(of('tasks').map(({ data }) => data['name'])).toEqual(['answer', 'answer']);
  expect(of('checkpoints').at(-1)?.data).toEqual({
    id: expect.any(String),
    parent_id: expect.any(String),
    step: 1,
    source: 'loop',
  });
  expect(of('values').at(-1)?.data['messages']).toMatchObject([
    { type: 'human', content: 'hello' },
    { type: 'ai', content: 'You said: hello' },
  ]);
});

test('messages of a subgraph have the namespace of the graph that contains the node', async () => {
  const request = { channels: ['messages', 'lifecycle'] };
  const { told } = await run('nested-tokens', { count: 2, messages: [] }, request);
  const places = new Set(
    told.filter(({ method }) => method === 'messages').map(({ params }) => params.namespace.join()),
  );
  expect([...places]).toEqual([expect.stringMatching(/^inner:[\w-]+$/)]);
});

test('namespaces and depth filter the events that are sent', async () => {
  const { thread_id } = await run('nested', {});
  const within = await open(thread_id, { channels: ['custom', 'values'], namespaces: [['child']] });
  const first = JSON.parse((await within.next()).value?.data ?? '') as Told;
  expect(first.params.namespace).toEqual([expect.stringMatching(/^child:/)]);
  const shallow = await toEnd(await open(thread_id, { channels: EVERYTHING, namespaces: [[]], depth: 0 }));
  expect(shallow.every(({ params }) => params.namespace.length === 0)).toBe(true);
});

test('a client can subscribe to all custom events, or by name', async () => {
  const { told } = await run('nested', {}, { channels: ['custom', 'lifecycle'] });
  const custom = told.filter(({ method }) => method === 'custom').map(({ params }) => params.data);
  expect(custom).toContainEqual({ payload: { from: 'parent' } });
  const named = await run('nested', {}, { channels: ['custom:progress', 'lifecycle'] });
  expect(named.told.some(({ method }) => method === 'custom')).toBe(false);
});

test('an interrupt event comes after the last values and before the end', async () => {
  const { told } = await run('interrupting', { x: 1 }, { channels: ['values', 'input', 'lifecycle'] });
  expect(told.slice(-3)).toMatchObject([
    { method: 'values', params: { data: { x: 1, log: ['a:1'] } } },
    {
      method: 'input.requested',
      params: { data: { interrupt_id: expect.any(String), payload: { question: 'ok?' } } },
    },
    { method: 'lifecycle', params: { data: { event: 'interrupted', graph_name: 'interrupting' } } },
  ]);
});

test('an answer by id is sent to all clients of the thread when the resumed run starts', async () => {
  const { thread_id, told } = await run('interrupting', { x: 1 });
  const id = String(told.find(({ method }) => method === 'input.requested')?.params.data['interrupt_id']);
  const respond = { interrupt_id: id, response: 'yes' };
  const { seq } = told.at(-1) as Told;
  const others = await open(thread_id, { channels: ['input', 'lifecycle'], since: seq });
  await app.post(`/threads/${thread_id}/commands`, { id: 2, method: 'input.respond', params: respond });
  expect((await toEnd(others)).filter(({ method }) => method.startsWith('input.'))).toMatchObject([
    { method: 'input.answered', params: { namespace: [], data: { interrupt_ids: [id] } } },
  ]);
});

test.for([
  [
    'a run',
    (thread_id: string, resume: object) =>
      app.post(`/threads/${thread_id}/runs`, {
        assistant_id: 'interrupting',
        command: { resume },
        strict_resume: true,
      }),
  ],
  [
    'run.start',
    (thread_id: string, input: object) =>
      app.post(`/threads/${thread_id}/commands`, {
        id: 2,
        method: 'run.start',
        params: { assistant_id: 'interrupting', input },
      }),
  ],
] as const)('an answer by %s that is refused is not announced', async ([, answer]) => {
  const { thread_id, told } = await run('interrupting', { x: 1 });
  const { seq } = told.at(-1) as Told;
  const others = await open(thread_id, { channels: ['input', 'lifecycle'], since: seq });
  expect((await answer(thread_id, { ['f'.repeat(32)]: 'yes' })).status).toBe(200);
  expect((await toEnd(others)).map(({ method, params }) => params.data['event'] ?? method)).toEqual([
    'running',
    'failed',
  ]);
});

test('a run created by the runs API emits its start, values, interrupts and end', async () => {
  const thread_id = await app.thread();
  await app.post(`/threads/${thread_id}/runs/wait`, { assistant_id: 'interrupting', input: { x: 1 } });
  const told = await toEnd(await open(thread_id));
  expect(told.map(({ method, params }) => params.data['event'] ?? method)).toEqual([
    'running',
    'values',
    'values',
    'input.requested',
    'interrupted',
  ]);
  expect(told.at(-3)?.params.data).not.toHaveProperty('__interrupt__');
  expect(new Set(told.map(({ event_id }) => event_id)).size).toBe(told.length);
});

test('streams by mode show a run that a command created like any other', async () => {
  const { thread_id } = await run('chat', hello);
  const [{ run_id }] = (await app.get(`/threads/${thread_id}/runs`)).body;
  const joined = await http.stream('GET', `/threads/${thread_id}/runs/${run_id}/stream?stream_mode=values`, {
    headers: { 'last-event-id': '-1' },
  });
  const frames = await Array.fromAsync(joined.events);
  expect(frames.map(({ event }) => event)).toEqual(['values', 'values']);
  expect(JSON.parse(frames[1]?.data ?? '').messages).toHaveLength(2);
  const { body } = await app.get(`/threads/${thread_id}/runs/${run_id}/join`);
  expect(body.messages).toHaveLength(2);
});

test('an invalid event streaming request is refused before the stream begins', async () => {
  const refused = async (body: object) => {
    const { status, body: answer } = await app.post(`/threads/${randomUUID()}/stream/events`, body);
    return [status, answer.detail];
  };
  expect(await refused({})).toEqual([400, 'channels is required and must be a non-empty array']);
  expect(await refused({ channels: ['bogus'] })).toEqual([
    400,
    expect.stringContaining('channels contains unsupported entries: bogus. Allowed: values, '),
  ]);
  expect(await refused({ channels: ['values'], since: -1 })).toEqual([
    400,
    naming('since', 0, 2_147_483_647),
  ]);
  expect((await refused({ channels: ['values'], namespaces: ['x'] }))[0]).toBe(400);
  expect((await app.get(`/threads/${randomUUID()}/stream/events`)).status).toBe(405);
});

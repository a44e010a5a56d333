import { afterAll, expect, test } from 'vitest';
import { openApp } from '../support/app.ts';
import { sseEvents } from '../support/sse.ts';

const http = await openApp({ graphs: ['ten-steps', 'nested', 'nested-tokens'] });
afterAll(() => http[Symbol.asyncDispose]());

interface Event {
  readonly event: string;
  readonly id: string | undefined;
  readonly data: Record<string, unknown>;
}

async function eventsOf(text: string): Promise<Event[]> {
  const events = await Array.fromAsync(sseEvents(onePiece(text)));
  return events.map(({ event, id, data }) => ({ event, id, data: JSON.parse(data) }));
}

async function* onePiece(text: string): AsyncIterable<string> {
  yield text;
}

const namesOf = (events: readonly Event[]) => [...new Set(events.map(({ event }) => event))];

/** A resumable run that has ended: its path and thread. */
async function streamed(assistant_id: string, rest: object) {
  const thread_id = await http.thread();
  const answer = await http.post(`/threads/${thread_id}/runs/stream`, {
    assistant_id,
    stream_resumable: true,
    ...rest,
  });
  return { thread_id, run: String(answer.headers['content-location']), events: await eventsOf(answer.text) };
}

async function join(run: string, query: string, last_event_id: string | undefined = '-1') {
  const headers = last_event_id ? { 'last-event-id': last_event_id } : {};
  return eventsOf((await http.get(`${run}/stream?${query}`, headers)).text);
}

/** The checkpoint of a thread whose state says this `n`. */
async function checkpointAt(thread_id: string, n: number): Promise<string> {
  const { body } = await http.post(`/threads/${thread_id}/history`, { limit: 100 });
  const found = body.find((state: { values: { n?: number } }) => state.values.n === n);
  return found.checkpoint.checkpoint_id;
}

test.for([
  [['values'], { n: 7 }],
  [['updates'], { step: { n: 7, executed: [7] } }],
  [['updates', 'checkpoints', 'values'], { step: { n: 7, executed: [7] } }],
  [['tasks', 'values'], undefined],
] as const)(
  'joining with a checkpoint yields the events after it, in modes %j',
  async ([stream_mode, next]) => {
    const { thread_id, run, events } = await streamed('ten-steps', { input: { n: 0 }, stream_mode });
    const checkpoint_id = await checkpointAt(thread_id, 6);

    const rest = await join(run, `checkpoint_id=${checkpoint_id}`);

    expect(rest).toEqual(events.slice(-rest.length));
    expect(rest.length).toBeLessThan(events.length / 2);
    if (next) expect(rest[0]?.data).toMatchObject(next);
    const told = rest.filter(({ event }) => event === 'values').map(({ data }) => data['n']);
    expect(told).toEqual((stream_mode as readonly string[]).includes('values') ? [7, 8, 9, 10] : []);
  },
);

test('joining with an empty stream mode, as the Python SDK sends it, yields the events of all modes', async () => {
  const { run, events } = await streamed('ten-steps', {
    input: { n: 8 },
    stream_mode: ['values', 'updates'],
  });
  expect(namesOf(events).sort()).toEqual(['metadata', 'updates', 'values']);
  expect(await join(run, 'stream_mode=')).toEqual(events);
});

test('joining with the newest checkpoint yields no events', async () => {
  const { thread_id, run } = await streamed('ten-steps', { input: { n: 0 } });
  expect(await join(run, `checkpoint_id=${await checkpointAt(thread_id, 10)}`)).toEqual([]);
});

test('joining with a checkpoint of another run, or an unknown one, yields the whole run', async () => {
  const { thread_id, run, events } = await streamed('ten-steps', { input: { n: 8 } });
  const before = await checkpointAt(thread_id, 10);
  const second = await http.post(`/threads/${thread_id}/runs/stream`, {
    assistant_id: 'ten-steps',
    input: { n: 9 },
    stream_resumable: true,
  });
  const path = String(second.headers['content-location']);
  expect(await join(path, `checkpoint_id=${before}`)).toEqual(await eventsOf(second.text));
  expect(await join(run, 'checkpoint_id=1f000000-0000-6000-8000-000000000000')).toEqual(events);
});

test('joining with an event id takes precedence over a checkpoint', async () => {
  const { thread_id, run, events } = await streamed('ten-steps', { input: { n: 0 } });
  const at = `checkpoint_id=${await checkpointAt(thread_id, 6)}`;
  expect(await join(run, at, '2')).toEqual(events.slice(2));
  expect(await join(run, at, '')).toEqual(await join(run, at));
});

test('joining with namespaces yields only events of those graphs, without their subgraphs', async () => {
  const asked = { input: {}, stream_mode: ['updates', 'custom', 'values'], stream_subgraphs: true };
  const { run, events } = await streamed('nested', asked);
  const child = events.map(({ event }) => event.split('|')[1]).find((segment) => segment !== undefined);
  const ofChild = [`custom|${child}`, `updates|${child}`, `values|${child}`];

  const ofRoot = ['custom', 'metadata', 'updates', 'values'];
  expect(namesOf(await join(run, 'namespace=')).sort()).toEqual(ofRoot);
  expect(namesOf(await join(run, `namespace=${child}`)).sort()).toEqual([...ofChild, 'metadata'].sort());
  expect(await join(run, 'namespace=child')).toEqual(await join(run, `namespace=${child}`));
  expect(await join(run, 'namespace=&namespace=child')).toEqual(events);
  expect(await join(run, 'namespace=elsewhere')).toEqual(events.slice(0, 1));
  const both = await join(run, 'namespace=child&stream_mode=updates');
  expect(namesOf(both)).toEqual([`updates|${child}`]);
});

test('a new run can be streamed by namespace', async () => {
  const body = { assistant_id: 'nested', input: {}, stream_mode: 'updates', stream_subgraphs: true };
  const stateless = await http.post('/runs/stream?namespace=', body);
  expect(namesOf(await eventsOf(stateless.text))).toEqual(['metadata', 'updates']);
  const onThread = await http.post(`/threads/${await http.thread()}/runs/stream?namespace=child`, body);
  expect(namesOf(await eventsOf(onThread.text))).toEqual([
    'metadata',
    expect.stringMatching(/^updates\|child:[0-9a-f-]{36}$/),
  ]);
});

test.for(['messages', 'messages-tuple'])(
  'tokens of a subgraph are filtered by its namespace, although their events in mode %s do not name it',
  async (stream_mode) => {
    const { run, events } = await streamed('nested-tokens', { input: { count: 3 }, stream_mode });
    expect(events.length).toBeGreaterThan(3);
    expect(namesOf(await join(run, 'namespace='))).toEqual(['metadata']);
    expect(await join(run, 'namespace=inner')).toEqual(events);
  },
);

test('joining with a checkpoint works for runs of event streaming', async () => {
  const thread_id = await http.thread();
  const started = await http.post(`/threads/${thread_id}/commands`, {
    id: 1,
    method: 'run.start',
    params: { assistant_id: 'ten-steps', input: { n: 0 } },
  });
  const run = `/threads/${thread_id}/runs/${started.body.result.run_id}`;
  await http.get(`${run}/join`);
  const rest = await join(run, `stream_mode=values&checkpoint_id=${await checkpointAt(thread_id, 6)}`);
  expect(rest.map(({ data }) => data['n'])).toEqual([7, 8, 9, 10]);
});

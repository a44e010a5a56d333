import { afterAll, expect, test } from 'vitest';
import { openApp } from '../support/app.ts';

const http = await openApp({ graphs: ['echo', 'fails', 'sleeper', 'nested'] });
afterAll(() => http[Symbol.asyncDispose]());

/** The events of a whole stream; heartbeats left out. */
function eventsOf(text: string): { event: string; data: unknown; id: string | undefined }[] {
  const blocks = text.split('\r\n\r\n').filter((block) => block !== '' && !block.startsWith(':'));
  return blocks.map((block) => {
    const field = (name: string) =>
      block
        .split('\r\n')
        .find((line) => line.startsWith(`${name}: `))
        ?.slice(name.length + 2);
    return { event: field('event') ?? '', data: JSON.parse(field('data') ?? ''), id: field('id') };
  });
}

const namesOf = (text: string) => eventsOf(text).map(({ event }) => event);

test('a run is streamed from its start to its end', async () => {
  const thread_id = await http.thread();
  const stream_mode = ['updates', 'values'];
  const { status, headers, text } = await http.post(`/threads/${thread_id}/runs/stream`, {
    assistant_id: 'echo',
    input: { x: 1 },
    stream_mode,
  });
  const run_id = String(headers['content-location']).split('/').at(-1);
  expect([status, headers['location']]).toEqual([200, undefined]);
  expect(text.startsWith(': heartbeat\r\n\r\nevent: metadata\r\ndata: ')).toBe(true);
  expect(eventsOf(text)).toEqual([
    { event: 'metadata', data: { run_id, attempt: 1 } },
    { event: 'values', data: { x: 1, log: [] } },
    { event: 'updates', data: { a: { log: ['a:1'] } } },
    { event: 'values', data: { x: 1, log: ['a:1'] } },
    { event: 'updates', data: { b: { log: ['b'] } } },
    { event: 'values', data: { x: 1, log: ['a:1', 'b'] } },
  ]);
});

test('events of subgraphs have their namespace', async () => {
  const { text } = await http.post('/runs/stream', {
    assistant_id: 'nested',
    input: {},
    stream_mode: 'updates',
    stream_subgraphs: true,
  });
  expect(namesOf(text)).toContainEqual(expect.stringMatching(/^updates\|child:[0-9a-f-]{36}$/));
});

test('mode lifecycle reports the graphs inside a graph, live, replayed and by their namespace', async () => {
  const thread_id = await http.thread();
  const first = await http.post(`/threads/${thread_id}/runs/stream`, {
    assistant_id: 'nested',
    input: {},
    stream_mode: ['lifecycle', 'values'],
    stream_resumable: true,
  });
  const lifecycle = eventsOf(first.text).filter(({ event }) => event.startsWith('lifecycle|'));
  const child = expect.stringMatching(/^child:[0-9a-f-]{36}$/);
  expect(lifecycle.map(({ data }) => data)).toEqual([
    { event: 'started', namespace: [child] },
    { event: 'completed', namespace: [child] },
  ]);
  const joined = async (query: string) => {
    const path = `${first.headers['content-location']}/stream?${query}`;
    return eventsOf((await http.get(path, { 'last-event-id': '-1' })).text);
  };
  expect(await joined('stream_mode=lifecycle')).toEqual(lifecycle);
  expect(await joined('stream_mode=lifecycle&namespace=child')).toEqual(lifecycle);
  expect(await joined('stream_mode=lifecycle&namespace=')).toEqual([]);
  const [run] = (await http.get(`/threads/${thread_id}/runs`)).body;
  expect(run.kwargs.stream_mode).toEqual(['lifecycle', 'values']);
});

test('a run of event streaming has the same lifecycle events in streams by mode', async () => {
  const thread_id = await http.thread();
  const params = { assistant_id: 'nested', input: {} };
  const { body } = await http.post(`/threads/${thread_id}/commands`, { id: 1, method: 'run.start', params });
  const run = `/threads/${thread_id}/runs/${body.result.run_id}`;
  await http.get(`${run}/join`);
  const joined = await http.get(`${run}/stream?stream_mode=lifecycle`, { 'last-event-id': '-1' });
  const namespace = [expect.stringMatching(/^child:/)];
  expect(eventsOf(joined.text).map(({ data }) => data)).toEqual([
    { event: 'started', namespace },
    { event: 'completed', namespace },
  ]);
});

test('the error of a run is the last event of its stream', async () => {
  const { status, text } = await http.post('/runs/stream', { assistant_id: 'fails', input: { x: 3 } });
  expect(status).toBe(200);
  expect(eventsOf(text).at(-1)).toMatchObject({
    event: 'error',
    data: { error: 'BoomError', message: 'boom 3' },
  });
});

test('an unknown stream mode is refused before anything is created', async () => {
  const thread_id = await http.thread();
  const answer = await http.post(`/threads/${thread_id}/runs/stream`, {
    assistant_id: 'echo',
    stream_mode: ['x'],
  });
  expect([answer.status, answer.body.detail]).toEqual([422, expect.stringMatching(/^stream_mode\[0\]: /)]);
  expect((await http.get(`/threads/${thread_id}/runs`)).body).toEqual([]);
});

test('the stream of a resumable run can be replayed from any event, with or without its thread', async () => {
  const thread_id = await http.thread();
  const first = await http.post(`/threads/${thread_id}/runs/stream`, {
    assistant_id: 'echo',
    input: { x: 1 },
    stream_mode: ['updates', 'values'],
    stream_resumable: true,
  });
  const events = eventsOf(first.text);
  expect(events.map(({ id }) => id)).toEqual(['1', '2', '3', '4', '5', '6']);
  const run = String(first.headers['content-location']);
  const again = async (last_event_id: string, path = run, query = '') =>
    eventsOf((await http.get(`${path}/stream${query}`, { 'last-event-id': last_event_id })).text);
  expect(await again('-1')).toEqual(events);
  expect(await again('4')).toEqual(events.slice(4));
  expect(await again('2', run.slice(run.indexOf('/runs/')))).toEqual(events.slice(2));
  expect(await again('99')).toEqual([]);
  const only = await again('-1', run, '?stream_mode=updates');
  expect(only.map(({ event }) => event)).toEqual(['updates', 'updates']);
});

test('a run that is not resumable cannot be replayed', async () => {
  const thread_id = await http.thread();
  const first = await http.post(`/threads/${thread_id}/runs/stream`, {
    assistant_id: 'echo',
    input: { x: 1 },
  });
  const joined = await http.get(`${first.headers['content-location']}/stream`, { 'last-event-id': '-1' });
  expect([joined.status, eventsOf(joined.text)]).toEqual([200, []]);
});

test('joining an executing run yields its remaining events', async () => {
  const thread_id = await http.thread();
  const { body: run } = await http.post(`/threads/${thread_id}/runs`, {
    assistant_id: 'sleeper',
    input: { ms: 3_000, label: 'late' },
  });
  const joined = await http.get(`/threads/${thread_id}/runs/${run.run_id}/stream`);
  expect(eventsOf(joined.text).at(-1)).toMatchObject({ event: 'values', data: { slept: ['late'] } });
});

import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import { openApp } from '../support/app.ts';
import { httpClient } from '../support/http-client.ts';
import type { SseEvent } from '../support/sse.ts';

/** A server with a listening port, and a thread on it. */
async function opened() {
  const app = await openApp({ graphs: ['echo', 'fails', 'interrupting'] });
  const { url } = await app.app.listen();
  return Object.assign(app, { http: httpClient(url) });
}
type Opened = Awaited<ReturnType<typeof opened>>;

async function take(events: AsyncIterable<SseEvent>, count: number): Promise<SseEvent[]> {
  const taken: SseEvent[] = [];
  for await (const event of events) {
    taken.push(event);
    if (taken.length === count) break;
  }
  return taken;
}

/** Opened: whatever happens from now on is in it. */
async function listen({ http }: Opened, path: string, last_event_id?: string) {
  const headers = last_event_id === undefined ? {} : { 'last-event-id': last_event_id };
  return await http.stream('GET', path, { headers });
}

async function run({ post }: Opened, thread_id: string, assistant_id = 'echo', more: object = {}) {
  const body = { assistant_id, input: { messages: ['hi'] }, stream_resumable: true, ...more };
  return (await post(`/threads/${thread_id}/runs/wait`, body)).headers['content-location']?.split('/').at(-1);
}

const names = (events: SseEvent[]) => events.map(({ event, data }) => (event === 'metadata' ? data : event));
const begun = (run_id: string | undefined) => JSON.stringify({ run_id, attempt: 1 });
const done = (run_id: string | undefined) => JSON.stringify({ status: 'run_done', run_id });

test('a thread stream has the events of every run, from its beginning to its end', async () => {
  await using server = await opened();
  const thread_id = await server.thread();
  const { status, headers, events } = await listen(server, `/threads/${thread_id}/stream`);
  expect(status).toBe(200);
  expect(headers['content-type']).toContain('text/event-stream');
  const first = await run(server, thread_id);
  const failed = await run(server, thread_id, 'fails');
  const seen = await take(events, 8);
  expect(names(seen).filter((name) => name !== 'values')).toEqual([
    begun(first),
    done(first),
    begun(failed),
    'error',
    done(failed),
  ]);
  expect(seen.map(({ id }) => Number(id))).toEqual(seen.map((_, index) => index + 1));
});

test('a client that rejoins a thread stream gets the missed events across runs, or all of them', async () => {
  await using server = await opened();
  const thread_id = await server.thread();
  const first = await run(server, thread_id);
  const second = await run(server, thread_id);
  const all = await take((await listen(server, `/threads/${thread_id}/stream`, '-')).events, 8);
  expect(names(all).filter((name) => name !== 'values')).toEqual([
    begun(first),
    done(first),
    begun(second),
    done(second),
  ]);
  for (const [id, after] of [
    ['2', 2],
    ['3-0', 3],
  ] as const) {
    const { events } = await listen(server, `/threads/${thread_id}/stream`, id);
    expect(await take(events, 8 - after)).toEqual(all.slice(after));
  }
  const zero = await take((await listen(server, `/threads/${thread_id}/stream`, '0')).events, 8);
  expect(zero).toEqual(all);
});

test('joining a thread stream without an id, or with an unknown one, yields only new events', async () => {
  await using server = await opened();
  const thread_id = await server.thread();
  await run(server, thread_id);
  const streams = [undefined, '1795217424268-0'].map((id) =>
    listen(server, `/threads/${thread_id}/stream`, id),
  );
  const listening = await Promise.all(streams);
  const second = await run(server, thread_id);
  for (const { events } of listening) expect(names(await take(events, 1))).toEqual([begun(second)]);
});

test.for([
  'stream_mode=lifecycle',
  'stream_modes=lifecycle',
  'stream_mode=lifecycle&stream_mode=state_update',
  'stream_modes=lifecycle,state_update',
  'stream_modes=%5B%22lifecycle%22,%22state_update%22%5D',
])('the modes of a thread stream select its events: %s', async (query) => {
  await using server = await opened();
  const thread_id = await server.thread();
  const { events } = await listen(server, `/threads/${thread_id}/stream?${query}`);
  const run_id = await run(server, thread_id);
  await server.post(`/threads/${thread_id}/state`, { values: { messages: ['more'] } });
  const second = await run(server, thread_id);
  const update = query.includes('state_update') ? ['state_update'] : [];
  const expected = [begun(run_id), done(run_id), ...update, begun(second), done(second)];
  expect(names(await take(events, expected.length))).toEqual(expected);
});

test('a state update is sent on the thread stream, even to a client that rejoins', async () => {
  await using server = await opened();
  const thread_id = await server.thread();
  await run(server, thread_id);
  await server.post(`/threads/${thread_id}/state`, { values: { messages: ['more'] } });
  const state = (await server.get(`/threads/${thread_id}/state`)).body;
  const { events } = await listen(server, `/threads/${thread_id}/stream?stream_mode=state_update`, '-');
  const [update] = await take(events, 1);
  expect(JSON.parse(update?.data ?? '')).toEqual({ state, thread_id });
});

test('an invalid request for a thread stream is refused before the stream begins', async () => {
  await using server = await opened();
  const thread_id = await server.thread();
  const missing = '00000000-0000-0000-0000-000000000000';
  expect((await server.get(`/threads/${missing}/stream`)).status).toBe(404);
  const mode = await server.get(`/threads/${thread_id}/stream?stream_mode=bogus`);
  expect([mode.status, mode.body.detail]).toEqual([
    422,
    expect.stringContaining('Invalid stream mode: bogus'),
  ]);
  const id = await server.get(`/threads/${thread_id}/stream`, { 'last-event-id': '-1' });
  expect([id.status, id.body.detail]).toEqual([
    422,
    expect.stringContaining('Invalid last-event-id: must be a valid Redis stream ID'),
  ]);
});

const ALICE = { authorization: 'Bearer alice-token' };
const BOB = { authorization: 'Bearer bob-token' };

test('a thread stream ends when its thread is deleted and another user creates one with its id', async () => {
  const folder = resolve(import.meta.dirname, '../fixtures/auth');
  await using server = await openApp({ graphs: ['echo'], folder });
  const { stream } = httpClient((await server.app.listen()).url);
  const { thread_id } = (await server.post('/threads', {}, ALICE)).body;
  const { events } = await stream('GET', `/threads/${thread_id}/stream`, { headers: ALICE });
  const input = { messages: ['of Bob'] };
  const body = { assistant_id: 'echo', input, stream_resumable: true };
  await server.send('DELETE', `/threads/${thread_id}`, undefined, ALICE);
  await server.post('/threads', { thread_id }, BOB);
  expect((await server.post(`/threads/${thread_id}/runs/wait`, body, BOB)).status).toBe(200);
  expect(await Array.fromAsync(events)).toEqual([]);
});

test('a thread stream continues when its user creates a thread with the id of the deleted one', async () => {
  const folder = resolve(import.meta.dirname, '../fixtures/auth');
  await using server = await openApp({ graphs: ['echo'], folder });
  const { stream } = httpClient((await server.app.listen()).url);
  const { thread_id } = (await server.post('/threads', {}, ALICE)).body;
  const { events } = await stream('GET', `/threads/${thread_id}/stream`, { headers: ALICE });
  await server.send('DELETE', `/threads/${thread_id}`, undefined, ALICE);
  await server.post('/threads', { thread_id }, ALICE);
  const body = { assistant_id: 'echo', input: { messages: ['hi'] }, stream_resumable: true };
  await server.post(`/threads/${thread_id}/runs/wait`, body, ALICE);
  expect((await take(events, 1)).map(({ event }) => event)).toEqual(['metadata']);
});

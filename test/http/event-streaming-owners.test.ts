import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openApp } from '../support/app.ts';
import { httpClient } from '../support/http-client.ts';

const ALICE = { authorization: 'Bearer alice-token' };
const BOB = { authorization: 'Bearer bob-token' };

let app: Awaited<ReturnType<typeof openApp>>;
let url: string;
beforeAll(async () => {
  app = await openApp({ graphs: ['echo'], folder: resolve(import.meta.dirname, '../fixtures/auth') });
  url = (await app.app.listen()).url;
});
afterAll(() => app[Symbol.asyncDispose]());

async function create(thread_id: string, headers: Record<string, string>) {
  expect((await app.post('/threads', { thread_id }, headers)).status).toBe(200);
}

async function remove(thread_id: string, headers: Record<string, string>) {
  expect((await app.send('DELETE', `/threads/${thread_id}`, undefined, headers)).status).toBe(204);
}

async function run(thread_id: string, headers: Record<string, string>) {
  const body = { assistant_id: 'echo', input: { messages: ['hi'] }, stream_resumable: true };
  expect((await app.post(`/threads/${thread_id}/runs/wait`, body, headers)).status).toBe(200);
}

/** Alice's event stream. */
async function open(thread_id: string) {
  const body = { channels: ['lifecycle'] };
  const path = `/threads/${thread_id}/stream/events`;
  const { status, events } = await httpClient(url).stream('POST', path, { body, headers: ALICE });
  expect(status).toBe(200);
  return events;
}

/** What it sends until it is broken off, so that clients ask again and are refused. */
async function untilEnd(events: Awaited<ReturnType<typeof open>>) {
  const sent: string[] = [];
  try {
    for await (const { data } of events) sent.push(data);
  } catch (error) {
    expect(error).toMatchObject({ message: 'aborted' });
  }
  return sent;
}

test('an event stream ends when its thread is deleted and another user creates one with its id', async () => {
  const thread_id = randomUUID();
  await create(thread_id, ALICE);
  const events = await open(thread_id);
  await remove(thread_id, ALICE);
  await create(thread_id, BOB);
  await run(thread_id, BOB);
  expect(await untilEnd(events)).toEqual([]);
});

test('an event stream ends when the thread that it waits for turns out to be another user’s', async () => {
  const thread_id = randomUUID();
  const events = await open(thread_id);
  await create(thread_id, BOB);
  await run(thread_id, BOB);
  expect(await untilEnd(events)).toEqual([]);
});

test('a WebSocket is closed when another user creates a thread with the id of a deleted one', async () => {
  const thread_id = randomUUID();
  await create(thread_id, ALICE);
  const address = `${url.replace('http', 'ws')}/threads/${thread_id}/stream/events`;
  const socket = new WebSocket(address, { headers: ALICE } as never);
  const heard: string[] = [];
  socket.addEventListener('message', ({ data }) => heard.push(String(data)));
  await once(socket, 'open');
  const closed = once(socket, 'close') as Promise<[CloseEvent]>;
  const params = { channels: ['lifecycle', 'values'] };
  socket.send(JSON.stringify({ id: 1, method: 'subscription.subscribe', params }));
  await once(socket, 'message');
  await remove(thread_id, ALICE);
  await create(thread_id, BOB);
  await run(thread_id, BOB);
  expect((await closed)[0].code).toBe(1011);
  expect(heard).toEqual([expect.stringContaining('"success"')]);
});

test('an event stream continues across runs of its user, even on a recreated thread', async () => {
  const thread_id = randomUUID();
  await create(thread_id, ALICE);
  const events = await open(thread_id);
  await remove(thread_id, ALICE);
  await create(thread_id, ALICE);
  await run(thread_id, ALICE);
  await run(thread_id, ALICE);
  const told: unknown[] = [];
  for await (const { data } of events) {
    told.push(JSON.parse(data).params.data.event);
    if (told.length === 4) break;
  }
  expect(told).toEqual(['running', 'completed', 'running', 'completed']);
});

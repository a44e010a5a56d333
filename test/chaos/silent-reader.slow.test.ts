import { expect, test } from 'vitest';
import type { HttpClient } from '../support/http-client.ts';
import { createThread, getRun, joinRun, type RemoteRun, startRun } from '../support/remote-runs.ts';
import { openAndNeverRead, subscribeAndNeverRead } from '../support/silent-client.ts';
import { until } from '../support/until.ts';
import { startChaosServer } from './server.ts';

const EVENTS = 100;
const EVENT_BYTES = 200 * 1024;
const SILENT = 10;
/** A heap that does not hold what all of them leave unread. */
const SMALL = { NODE_OPTIONS: '--max-old-space-size=200' };
/** `npm run bench -- silent-readers` measures what they cost. */
test('neither a run nor other clients of its stream wait for clients that never read', async () => {
  await using server = await startChaosServer(SMALL);
  const { http } = server;
  const { url } = server.process;
  const run = await flood(http);
  using silent = new DisposableStack();
  const path = `/threads/${run.thread_id}/runs/${run.run_id}/stream`;
  const openSilent = async () => {
    const socket = await openAndNeverRead(url, 'GET', path, { headers: { 'Last-Event-ID': '-1' } });
    silent.defer(() => socket.destroy());
  };
  for (let i = 0; i < SILENT; i++) await openSilent();
  expect(await countEvents(http, run)).toBe(EVENTS);
  // These find all of it in the log.
  for (let i = 0; i < SILENT; i++) await openSilent();
  expect(await countEvents(http, run)).toBe(EVENTS);

  expect(await getRun(http, run)).toMatchObject({ status: 'success' });
});

test('neither a run nor other clients wait for WebSocket clients that never read', async () => {
  await using server = await startChaosServer(SMALL);
  const { http } = server;
  const { url } = server.process;
  const thread_id = await createThread(http);
  await joinRun(http, await floodEvents(http, thread_id));

  using silent = new DisposableStack();
  const open = async () => {
    const socket = await subscribeAndNeverRead(url, thread_id, ['custom']);
    silent.defer(() => socket.destroy());
    return socket;
  };
  for (let i = 0; i < SILENT; i++) await open();
  // What they have not read of the past, and what comes while they are there.
  await joinRun(http, await floodEvents(http, thread_id));

  // One that does read has all of it.
  const reader = await open();
  reader.resume();
  await until('all has come', () => reader.bytesRead > 2 * EVENTS * EVENT_BYTES);
});

/** A run whose events are those of the newer protocol. */
async function floodEvents(http: HttpClient, thread_id: string): Promise<RemoteRun> {
  const params = { assistant_id: 'flood', input: { count: EVENTS, bytes: EVENT_BYTES } };
  const command = { id: 1, method: 'run.start', params };
  const path = `/threads/${thread_id}/commands`;
  const { result } = await http.call<{ result: { run_id: string } }>('POST', path, command);
  return { thread_id, run_id: result.run_id };
}

async function flood(http: HttpClient): Promise<RemoteRun> {
  return startRun(http, {
    assistant_id: 'flood',
    input: { count: EVENTS, bytes: EVENT_BYTES },
    stream_mode: ['custom'],
    stream_resumable: true,
  });
}

async function countEvents(http: HttpClient, { thread_id, run_id }: RemoteRun): Promise<number> {
  const path = `/threads/${thread_id}/runs/${run_id}/stream`;
  const { events } = await http.stream('GET', path, { headers: { 'last-event-id': '-1' } });
  let count = 0;
  for await (const { event } of events) if (event === 'custom') count++;
  return count;
}

import { expect, test } from 'vitest';
import type { HttpClient } from '../support/http-client.ts';
import { peakResidentBytes } from '../support/process-usage.ts';
import { createThread, getRun, joinRun, type RemoteRun, startRun } from '../support/remote-runs.ts';
import { openAndNeverRead } from '../support/silent-client.ts';
import { ENGINE_OF_TESTS } from '../support/test-database.ts';
import { until } from '../support/until.ts';
import { startChaosServer } from './server.ts';

const MEGABYTE = 1024 ** 2;
const EVENTS = 100;
const EVENT_BYTES = 200 * 1024;
const SILENT = 10;
/** What the client of PostgreSQL reads is garbage at once, and its peak depends on when that is collected. */
const MAX_GROWTH_MB = ENGINE_OF_TESTS === 'postgres' ? 160 : 80;

test('clients that never read cost little memory, and neither the run nor other clients wait for them', async () => {
  await using server = await startChaosServer();
  const { http } = server;
  const { pid, url } = server.process;
  // What a run of this size costs by itself.
  expect(await countEvents(http, await flood(http))).toBe(EVENTS);
  const before = peakResidentBytes(pid);

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
  const grown = (peakResidentBytes(pid) - before) / MEGABYTE;
  // All that they leave unread is twenty times 20 MB.
  expect(grown).toBeLessThan(MAX_GROWTH_MB);
});

const HANDSHAKE = {
  Connection: 'Upgrade',
  Upgrade: 'websocket',
  'Sec-WebSocket-Version': '13',
  'Sec-WebSocket-Key': 'dGhlIHNhbXBsZSBub25jZQ==',
};

/** A text as a client sends it over a WebSocket; masked with zeros, which leave it as it is. */
function message(content: object): Buffer {
  const text = Buffer.from(JSON.stringify(content));
  return Buffer.concat([Buffer.from([0x81, 0x80 | text.length, 0, 0, 0, 0]), text]);
}

test('WebSockets that nobody reads from cost little memory too', async () => {
  await using server = await startChaosServer();
  const { http } = server;
  const { pid, url } = server.process;
  const thread_id = await createThread(http);
  await joinRun(http, await floodEvents(http, thread_id));
  const before = peakResidentBytes(pid);

  using silent = new DisposableStack();
  const subscribe = { id: 1, method: 'subscription.subscribe', params: { channels: ['custom'] } };
  const open = async () => {
    const path = `/threads/${thread_id}/stream/events`;
    const socket = await openAndNeverRead(url, 'GET', path, { headers: HANDSHAKE });
    silent.defer(() => socket.destroy());
    socket.write(message(subscribe));
    return socket;
  };
  for (let i = 0; i < SILENT; i++) await open();
  // What they have not read of the past, and what comes while they are there.
  await joinRun(http, await floodEvents(http, thread_id));
  const grown = (peakResidentBytes(pid) - before) / MEGABYTE;
  expect(grown).toBeLessThan(80);

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

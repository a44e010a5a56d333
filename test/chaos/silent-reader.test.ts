import { expect, test } from 'vitest';
import type { HttpClient } from '../support/http-client.ts';
import { peakResidentBytes } from '../support/process-figures.ts';
import { getRun, type RemoteRun, startRun } from '../support/remote-runs.ts';
import { openAndNeverRead } from '../support/silent-client.ts';
import { startChaosServer } from './server.ts';

const MEGABYTE = 1024 ** 2;
const EVENTS = 100;
const EVENT_BYTES = 200 * 1024;
const SILENT = 10;

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
  expect(grown).toBeLessThan(80);
});

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

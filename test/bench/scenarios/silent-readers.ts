import { setTimeout as sleep } from 'node:timers/promises';
import { peakResidentBytes } from '../../support/process-usage.ts';
import { joinRun, type RemoteRun, startRun } from '../../support/remote-runs.ts';
import { openAndNeverRead, subscribeAndNeverRead } from '../../support/silent-client.ts';
import { type BenchServer, benchServer } from '../bench-server.ts';
import type { Measurement, Scenario } from '../measurements.ts';

const SILENT = 200;
const EVENTS = 60;
const EVENT_BYTES = 200 * 1024;
const MEGABYTE = 1024 ** 2;
/** Of CPU in a second: what a server with nothing to do may use. */
const IDLE_CPU_SECONDS = 0.05;
const FLOOD = {
  assistant_id: 'flood',
  input: { count: EVENTS, bytes: EVENT_BYTES },
  stream_mode: ['custom'],
  stream_resumable: true,
};

/** Clients that open a stream and never read: what do they cost, and who waits for them? */
export const silentReaders: Scenario = {
  title: `${SILENT} clients that never read ${((EVENTS * EVENT_BYTES) / MEGABYTE).toFixed(0)} MB of events each`,
  async run() {
    return [
      ...(await silence('streams of a run', joinRunStream)),
      ...(await silence('event streaming', follow)),
      ...(await silence('event streaming over WebSockets', subscribe)),
    ];
  },
};

type OpenSilent = (server: BenchServer, run: RemoteRun) => Promise<Disposable>;

/** Half of them come while the run executes, half when it has ended and only the log has its events. */
async function silence(what: string, open: OpenSilent): Promise<Measurement[]> {
  await using server = await benchServer();
  const { pid } = server.process;
  const alone_ms = await runAndRead(server);
  const before = peakResidentBytes(pid);

  const run = await startRun(server.http, FLOOD);
  using silent = new DisposableStack();
  for (let i = 0; i < SILENT / 2; i++) silent.use(await open(server, run));
  await joinRun(server.http, run);
  for (let i = 0; i < SILENT / 2; i++) silent.use(await open(server, run));
  await untilIdle(server);
  const beside_ms = await runAndRead(server);

  const grown = (peakResidentBytes(pid) - before) / MEGABYTE;
  return [
    { what: `${what}: most memory beyond one that reads`, value: grown, unit: 'MB' },
    { what: `${what}: a run with a client that reads, before`, value: alone_ms, unit: 'ms' },
    { what: `${what}: the same beside the silent ones`, value: beside_ms, unit: 'ms' },
  ];
}

/** Until what lies between server and clients is full. */
async function untilIdle(server: BenchServer): Promise<void> {
  for (let before = -1; server.cpu() - before > IDLE_CPU_SECONDS; ) {
    before = server.cpu();
    await sleep(1000);
  }
}

async function runAndRead({ http }: BenchServer): Promise<number> {
  const started = performance.now();
  const { events } = await http.stream('POST', '/runs/stream', { body: FLOOD });
  let count = 0;
  for await (const { event } of events) if (event === 'custom') count++;
  if (count !== EVENTS) throw new Error(`a stream brought ${count} of ${EVENTS} events`);
  return performance.now() - started;
}

async function joinRunStream({ process: { url } }: BenchServer, { thread_id, run_id }: RemoteRun) {
  const path = `/threads/${thread_id}/runs/${run_id}/stream`;
  return disposable(await openAndNeverRead(url, 'GET', path, { headers: { 'Last-Event-ID': '-1' } }));
}

async function follow({ process: { url } }: BenchServer, { thread_id }: RemoteRun) {
  const path = `/threads/${thread_id}/stream/events`;
  return disposable(await openAndNeverRead(url, 'POST', path, { body: { channels: ['custom', 'values'] } }));
}

async function subscribe({ process: { url } }: BenchServer, { thread_id }: RemoteRun) {
  return disposable(await subscribeAndNeverRead(url, thread_id, ['custom', 'values']));
}

function disposable(socket: { destroy(): void }): Disposable {
  return { [Symbol.dispose]: () => socket.destroy() };
}

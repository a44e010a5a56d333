import { setTimeout as sleep } from 'node:timers/promises';
import { peakResidentBytes } from '../../support/process-usage.ts';
import { createThread, joinRun, type RemoteRun, startRun } from '../../support/remote-runs.ts';
import { openAndNeverRead } from '../../support/silent-client.ts';
import { type BenchServer, benchServer } from '../bench-server.ts';
import { watchHealth } from '../health.ts';
import { type Measurement, percentiles, type Scenario } from '../measurements.ts';

/** Needs as many open files on either side: `ulimit -n`. */
const READERS = 5000;
/** Sockets that are opened, or runs that are made, at a time. */
const AT_ONCE = 100;
const IDLE_MS = 10_000;
const MEGABYTE = 1024 ** 2;
const TWENTY_EVENTS = { assistant_id: 'flood', input: { count: 20, bytes: 100 }, stream_mode: ['custom'] };
/** A run that waits for its time, which does not come here. */
const WAITING = { assistant_id: 'echo', input: {}, after_seconds: 86_400 };

/** Clients that follow what does not move: what do they cost, and what does it cost when it moves? */
export const waitingReaders: Scenario = {
  title: `${READERS} clients that follow and never read`,
  async run() {
    return [...(await ofOneThread()), ...(await ofRunsOfTheirOwn())];
  },
};

async function ofOneThread(): Promise<Measurement[]> {
  const what = 'one thread';
  await using server = await benchServer();
  const thread_id = await createThread(server.http);
  using readers = new DisposableStack();
  const measurements = await idleMeasurements(server, what, async () => {
    for (let opened = 0; opened < READERS; opened += AT_ONCE)
      for (const reader of await together(() => follow(server, `/threads/${thread_id}/stream`)))
        readers.use(reader);
  });

  const health = watchHealth(server);
  const started = performance.now();
  await joinRun(server.http, await startRun(server.http, TWENTY_EVENTS, thread_id));
  const wall_ms = performance.now() - started;
  await sleep(IDLE_MS / 10);
  return [
    ...measurements,
    { what: `${what}: a run of twenty events on it`, value: wall_ms / 1000, unit: 's' },
    ...percentiles(`${what}: /ok meanwhile`, await health.stop()),
    { what: `${what}: most memory`, value: peakResidentBytes(server.process.pid) / MEGABYTE, unit: 'MB' },
  ];
}

async function ofRunsOfTheirOwn(): Promise<Measurement[]> {
  await using server = await benchServer();
  const runs: RemoteRun[] = [];
  while (runs.length < READERS) runs.push(...(await together(() => startRun(server.http, WAITING))));
  using readers = new DisposableStack();
  return await idleMeasurements(server, 'each a run of its own', async () => {
    while (runs.length > 0)
      for (const reader of await Promise.all(
        runs
          .splice(0, AT_ONCE)
          .map(({ thread_id, run_id }) => follow(server, `/threads/${thread_id}/runs/${run_id}/stream`)),
      ))
        readers.use(reader);
  });
}

async function idleMeasurements(
  server: BenchServer,
  what: string,
  open: () => Promise<void>,
): Promise<Measurement[]> {
  const before = server.residentMegabytes();
  const started = performance.now();
  await open();
  const wall_ms = performance.now() - started;
  // What lies between is small: the heads of all replies have left when this has been answered.
  await server.http.call('GET', '/ok');
  await sleep(IDLE_MS / 2);
  const cpu = server.cpu();
  const health = watchHealth(server);
  await sleep(IDLE_MS);
  const latencies = await health.stop();
  return [
    { what: `${what}: until all are open`, value: wall_ms / 1000, unit: 's' },
    {
      what: `${what}: memory for each thousand`,
      value: (server.residentMegabytes() - before) / (READERS / 1000),
      unit: 'MB',
    },
    {
      what: `${what}: CPU a second, with health asked 50 times`,
      value: ((server.cpu() - cpu) * 1e6) / IDLE_MS,
      unit: 'ms',
    },
    ...percentiles(`${what}: /ok`, latencies),
  ];
}

function together<T>(work: () => Promise<T>): Promise<T[]> {
  return Promise.all(Array.from({ length: AT_ONCE }, work));
}

async function follow({ process: { url } }: BenchServer, path: string): Promise<Disposable> {
  const socket = await openAndNeverRead(url, 'GET', path);
  return { [Symbol.dispose]: () => socket.destroy() };
}

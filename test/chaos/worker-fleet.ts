import { PostgresRelay } from '../support/postgres-relay.ts';
import type { PostgresServer } from '../support/postgres-server.ts';
import { until } from '../support/until.ts';
import { type ChaosServer, startChaosServer } from './server.ts';

export const LEASE_SECONDS = 2;
/** How long a frozen or cut off worker stays so: its runs have gone elsewhere by then. */
const ABSENCE_MS = LEASE_SECONDS * 1000 * 1.5;

/** A worker whose line to each of the databases can break. */
interface FleetWorker {
  readonly server: ChaosServer;
  readonly relays: readonly PostgresRelay[];
  /** Ends of what happens to it now. */
  recovers: Promise<void>;
}

/** Processes that execute runs, and what may happen to them. */
export interface WorkerFleet extends AsyncDisposable {
  readonly workers: readonly FleetWorker[];
  /** SIGKILL, and a new process. */
  kill(index: number): void;
  /** SIGTERM, and a new process. */
  terminate(index: number): void;
  /** SIGSTOP for longer than a lease. */
  freeze(index: number): void;
  /** Packets to the databases are dropped for longer than a lease. */
  cutOff(index: number): void;
  /** All are back. */
  recovered(): Promise<void>;
}

export async function startFleet(
  databases: readonly PostgresServer[],
  count: number,
  env: Readonly<Record<string, string>>,
): Promise<WorkerFleet> {
  await using opened = new AsyncDisposableStack();
  const start = async (): Promise<FleetWorker> => {
    const relays: PostgresRelay[] = [];
    for (const { url } of databases) relays.push(opened.use(await PostgresRelay.listen(url)));
    const DATABASE_URI = urlOf(relays.map(({ url }) => url));
    const server = opened.use(await startChaosServer({ ...env, DATABASE_URI, AGENT_SERVER_ROLE: 'worker' }));
    return { server, relays, recovers: Promise.resolve() };
  };
  const workers = await Promise.all(Array.from({ length: count }, start));
  const happen = (index: number, what: (worker: FleetWorker) => Promise<void>) => {
    const worker = workers[index % count] as FleetWorker;
    worker.recovers = worker.recovers.then(() => what(worker));
  };
  const restart = (signal: 'SIGKILL' | 'SIGTERM') => async (worker: FleetWorker) => {
    await worker.server.process.kill(signal);
    await until('the worker is back', () => startAgain(worker));
  };
  const all = opened.move();
  return {
    workers,
    kill: (index) => happen(index, restart('SIGKILL')),
    terminate: (index) => happen(index, restart('SIGTERM')),
    freeze: (index) =>
      happen(
        index,
        async ({
          server: {
            process: { pid },
          },
        }) => {
          process.kill(pid, 'SIGSTOP');
          await passed(ABSENCE_MS);
          process.kill(pid, 'SIGCONT');
        },
      ),
    cutOff: (index) =>
      happen(index, async ({ relays }) => {
        for (const relay of relays) relay.silence();
        await passed(ABSENCE_MS);
        for (const relay of relays) relay.mend();
      }),
    recovered: async () => {
      await Promise.all(workers.map(({ recovers }) => recovers));
    },
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  };
}

/** As a supervisor does: a start without a database ends, and is tried again. */
function startAgain({ server }: FleetWorker): Promise<boolean> {
  return server.process.restart().then(
    () => true,
    () => false,
  );
}

/** The time itself is what happens here: nothing tells from outside that a lease has ended. */
async function passed(ms: number): Promise<void> {
  const end = performance.now() + ms;
  await until(`${ms} ms have passed`, () => performance.now() >= end, 2 * ms + 20_000);
}

/** One URL with all of these hosts. */
export function urlOf(urls: readonly string[]): string {
  return `postgres://postgres@${urls.map((url) => new URL(url).host).join(',')}/postgres`;
}

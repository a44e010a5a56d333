import { readFileSync } from 'node:fs';
import { cpuSeconds } from '../support/process-usage.ts';
import type { BenchServer } from './bench-server.ts';
import { measureLoad } from './load.ts';
import { type Measurement, percentile } from './measurements.ts';

const ROUNDS = 6;

/** Requests that each server answers in its turn. */
export interface TurnsLoad<Server> {
  readonly what: string;
  readonly concurrency: number;
  /** Requests of each part. */
  readonly count: number;
  readonly request: (server: Server) => Promise<unknown>;
}

export type SharedLoad = TurnsLoad<BenchServer>;

/** What a server did with a load, in all its turns. */
export interface Turns {
  readonly p50_ms: number;
  readonly p95_ms: number;
  /** Of the server and its hosts, for a request. */
  readonly cpu_ms: number;
  /** Requests a second. */
  readonly rate: number;
}

interface Part {
  readonly latencies_ms: readonly number[];
  readonly wall_ms: number;
  readonly cpu_ms: number;
}

/** Latency, CPU and rate of a load on servers that differ in one thing, by the name of the server. */
export async function sideBySide(
  servers: ReadonlyMap<string, BenchServer>,
  load: SharedLoad,
): Promise<Measurement[]> {
  const turns = await inTurns([...servers.values()], load, ({ process }) => process.pid);
  return [...servers.keys()].flatMap((name, index): Measurement[] => {
    const { p50_ms, p95_ms, cpu_ms, rate } = turns[index] as Turns;
    const what = `${load.what}, ${name}:`;
    return [
      { what: `${what} p50`, value: p50_ms, unit: 'ms' },
      { what: `${what} p95`, value: p95_ms, unit: 'ms' },
      { what: `${what} CPU of all processes a request`, value: cpu_ms, unit: 'ms' },
      { what: `${what} rate`, value: rate, unit: 'requests/s' },
    ];
  });
}

/**
 * A load in so many parts, one server after the other, and the other way round in every second one: the machine is
 * equally busy for all, and none comes after the same one each time. The result is in the order of the servers.
 */
export async function inTurns<Server>(
  servers: readonly Server[],
  load: TurnsLoad<Server>,
  pidOf: (server: Server) => number | undefined,
  rounds = ROUNDS,
): Promise<Turns[]> {
  const part = async (server: Server, count: number): Promise<Part> => {
    const before = cpuOf(pidOf(server));
    const { concurrency } = load;
    const measured = await measureLoad({ concurrency, count, request: () => load.request(server) });
    return { ...measured, cpu_ms: (cpuOf(pidOf(server)) - before) * 1000 };
  };
  for (const server of servers) await part(server, load.concurrency * 4);
  const parts = new Map(servers.map((server) => [server, [] as Part[]]));
  for (let round = 0; round < rounds; round++) {
    const order = round % 2 === 0 ? servers : servers.toReversed();
    for (const server of order) parts.get(server)?.push(await part(server, load.count));
  }
  return [...parts.values()].map((all) => totalOf(all, load.count * rounds));
}

function totalOf(parts: readonly Part[], count: number): Turns {
  const latencies_ms = parts.flatMap((each) => each.latencies_ms);
  const sum = (of: 'wall_ms' | 'cpu_ms') => parts.reduce((total, each) => total + each[of], 0);
  return {
    p50_ms: percentile(latencies_ms, 0.5),
    p95_ms: percentile(latencies_ms, 0.95),
    cpu_ms: sum('cpu_ms') / count,
    rate: (count / sum('wall_ms')) * 1000,
  };
}

/** Of a server and its hosts; 0 for one whose process is not known. */
function cpuOf(pid: number | undefined): number {
  return pid === undefined ? 0 : processesOf(pid).reduce((sum, each) => sum + cpuSeconds(each), 0);
}

/** The processes that the server has started. */
export function childrenOf({ process: { pid } }: BenchServer): number[] {
  return processesOf(pid).slice(1);
}

/** A process, and those that it has started. */
function processesOf(pid: number): number[] {
  const text = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim();
  return [pid, ...(text === '' ? [] : text.split(' ').map(Number))];
}

/** A request that waits for the end of the run. */
export function waits(run: object): SharedLoad['request'] {
  return ({ http }) => http.call('POST', '/runs/wait', run);
}

/** A request that reads the stream of the run. */
export function streams(body: object): SharedLoad['request'] {
  return async ({ http }) => {
    const { events } = await http.stream('POST', '/runs/stream', { body });
    for await (const _ of events);
  };
}

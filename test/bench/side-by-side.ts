import { readFileSync } from 'node:fs';
import { cpuSeconds } from '../support/process-usage.ts';
import type { BenchServer } from './bench-server.ts';
import { measureLoad } from './load.ts';
import { type Measurement, percentile } from './measurements.ts';

/**
 * Each load in so many parts, one server after the other, and the other way round in every second one: the machine is
 * equally busy for all, and none comes after the same one each time.
 */
const ROUNDS = 6;

/** Requests that each server answers in its turn. */
export interface SharedLoad {
  readonly what: string;
  readonly concurrency: number;
  /** Requests of each part. */
  readonly count: number;
  readonly request: (server: BenchServer) => Promise<unknown>;
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
  for (const server of servers.values()) await part(server, { ...load, count: load.concurrency * 4 });
  const parts = new Map<string, Part[]>([...servers.keys()].map((name) => [name, []]));
  for (let round = 0; round < ROUNDS; round++) {
    const turns = round % 2 === 0 ? [...servers] : [...servers].toReversed();
    for (const [name, server] of turns) parts.get(name)?.push(await part(server, load));
  }
  const count = load.count * ROUNDS;
  return [...parts].flatMap(([name, all]): Measurement[] => {
    const latencies_ms = all.flatMap((each) => each.latencies_ms);
    const sum = (of: 'wall_ms' | 'cpu_ms') => all.reduce((total, each) => total + each[of], 0);
    const what = `${load.what}, ${name}:`;
    return [
      { what: `${what} p50`, value: percentile(latencies_ms, 0.5), unit: 'ms' },
      { what: `${what} p95`, value: percentile(latencies_ms, 0.95), unit: 'ms' },
      { what: `${what} CPU of all processes a request`, value: sum('cpu_ms') / count, unit: 'ms' },
      { what: `${what} rate`, value: (count / sum('wall_ms')) * 1000, unit: 'requests/s' },
    ];
  });
}

async function part(server: BenchServer, { concurrency, count, request }: SharedLoad): Promise<Part> {
  const before = cpuOf(server);
  const measured = await measureLoad({ concurrency, count, request: () => request(server) });
  return { ...measured, cpu_ms: (cpuOf(server) - before) * 1000 };
}

/** Of the server and its hosts. */
function cpuOf(server: BenchServer): number {
  return processesOf(server.process.pid).reduce((sum, pid) => sum + cpuSeconds(pid), 0);
}

/** The processes that the server has started. */
export function childrenOf({ process: { pid } }: BenchServer): number[] {
  return processesOf(pid).slice(1);
}

/** A process, and those that it has started. */
export function processesOf(pid: number): number[] {
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

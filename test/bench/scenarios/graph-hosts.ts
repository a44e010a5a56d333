import { setTimeout as sleep } from 'node:timers/promises';
import { residentBytes } from '../../support/process-usage.ts';
import { until } from '../../support/until.ts';
import { type BenchServer, benchServer, ECHO, TEN_STEPS } from '../bench-server.ts';
import { watchHealth } from '../health.ts';
import { type Measurement, percentile, type Scenario, type Unit } from '../measurements.ts';
import { childrenOf, type SharedLoad, sideBySide, streams, waits } from '../side-by-side.ts';

const TOKENS = { assistant_id: 'tokens', input: { count: 200 }, stream_mode: ['messages-tuple'] };
const COMPUTES = { assistant_id: 'blocks', input: { ms: 50 } };
const BLOCKED_MS = 30_000;

const SERVERS = { 'in process': '0', 'one host': '1', 'two hosts': '2' } as const;
type Mode = keyof typeof SERVERS;

const LONE_ECHO = { concurrency: 1, count: 100, request: waits(ECHO) };

const LOADS: readonly SharedLoad[] = [
  // V8 has optimised little in these processes, and in two of them less than in one.
  { what: 'echo, 1 at once, after the start', ...LONE_ECHO },
  { what: 'echo, 16 at once', concurrency: 16, count: 320, request: waits(ECHO) },
  { what: 'echo, 64 at once', concurrency: 64, count: 640, request: waits(ECHO) },
  { what: 'ten steps, 16 at once', concurrency: 16, count: 80, request: waits(TEN_STEPS) },
  { what: '200 tokens, 16 at once', concurrency: 16, count: 32, request: streams(TOKENS) },
  { what: 'a node that computes 50 ms, 8 at once', concurrency: 8, count: 24, request: waits(COMPUTES) },
  { what: 'echo, 1 at once, after thousands of runs', ...LONE_ECHO },
];

/** A thread with three runs of ten steps, on each server. */
const THREAD = '/threads/6f1c9a52-0d5b-4c1e-8f6e-2b7f8f0f3a11';

const READS: readonly SharedLoad[] = [
  { what: 'GET state, 16 at once', concurrency: 16, count: 320, request: reads(`${THREAD}/state`) },
  {
    what: 'GET history, 16 at once',
    concurrency: 16,
    count: 80,
    request: reads(`${THREAD}/history?limit=10`),
  },
];

/** What execution in graph hosts costs, side by side with the server's own process, and what it gives. */
export const graphHosts: Scenario = {
  title: 'Graph hosts beside the same runs in process',
  async run() {
    const measurements: Measurement[] = [];
    const servers = new Map<Mode, BenchServer>();
    await using stack = new AsyncDisposableStack();
    for (const mode of Object.keys(SERVERS) as Mode[]) {
      const started = await start(mode);
      servers.set(mode, stack.use(started.server));
      measurements.push(...started.measurements);
    }
    for (const server of servers.values()) await fillThread(server);
    for (const load of [...LOADS, ...READS]) measurements.push(...(await sideBySide(servers, load)));
    for (const [mode, server] of servers)
      measurements.push(
        measurement(`memory of the server after load, ${mode}`, server.residentMegabytes(), 'MB'),
      );
    // As `agent-server start` does without any configuration.
    const byDefault = await benchServer({ concurrency: 64, env: { AGENT_SERVER_HOSTS: 'auto' } });
    measurements.push(...(await whileBlocked('auto', stack.use(byDefault))));
    measurements.push(...(await whileBlocked('two hosts', servers.get('two hosts') as BenchServer)));
    return measurements;
  },
};

async function start(mode: Mode): Promise<{ server: BenchServer; measurements: Measurement[] }> {
  const started = performance.now();
  const server = await benchServer({ concurrency: 64, env: { AGENT_SERVER_HOSTS: SERVERS[mode] } });
  const ok_ms = performance.now() - started;
  await server.http.call('POST', '/runs/wait', ECHO);
  const first_ms = performance.now() - started;
  const hosts = Number(SERVERS[mode]);
  await until('the hosts are ready', async () => {
    const info = await server.http.call<{ server: { hosts?: { ready: number } } }>('GET', '/info');
    return (info.server.hosts?.ready ?? 0) >= hosts;
  });
  await sleep(1000);
  const ofHosts = childrenOf(server).map((pid) => residentBytes(pid) / 1024 ** 2);
  return {
    server,
    measurements: [
      measurement(`start to /ok, ${mode}`, ok_ms / 1000, 's'),
      measurement(`start to the end of a first run, ${mode}`, first_ms / 1000, 's'),
      measurement(
        `memory of the server at rest, ${mode}`,
        server.residentMegabytes(),
        'MB',
        hosts ? 110 : undefined,
      ),
      ...(hosts ? [measurement(`memory of a host at rest, ${mode}`, Math.max(...ofHosts), 'MB')] : []),
    ],
  };
}

async function fillThread({ http }: BenchServer): Promise<void> {
  await http.call('POST', '/threads', { thread_id: THREAD.split('/').at(-1) });
  for (let run = 0; run < 3; run++) await http.call('POST', `${THREAD}/runs/wait`, TEN_STEPS);
}

function reads(path: string): SharedLoad['request'] {
  return ({ http }) => http.call('GET', path);
}

/**
 * A node computes for half a minute without a pause; meanwhile another run streams a token each 10 ms. With `auto` it begins in
 * the same host, and continues in the one that is started for it.
 */
async function whileBlocked(mode: string, server: BenchServer): Promise<Measurement[]> {
  const body = { assistant_id: 'blocks', input: { ms: BLOCKED_MS } };
  const thread = await server.http.call<{ thread_id: string }>('POST', '/threads', {});
  const path = `/threads/${thread.thread_id}/runs`;
  const blocking = await server.http.call<{ run_id: string }>('POST', path, body);
  await until('the node has begun', async () => {
    const { status } = await server.http.call<{ status: string }>('GET', `${path}/${blocking.run_id}`);
    return status === 'running';
  });
  const health = watchHealth(server);
  const count = BLOCKED_MS / 10;
  const slow = { ...TOKENS, input: { count, token_ms: 10 } };
  const { events } = await server.http.stream('POST', '/runs/stream', { body: slow });
  const gaps_ms: number[] = [];
  let last = 0;
  for await (const _ of events) {
    const now = performance.now();
    if (last > 0) gaps_ms.push(now - last);
    last = now;
  }
  const latencies_ms = await health.stop();
  const result = await server.http.call<{ blocked?: number }>('GET', `${path}/${blocking.run_id}/join`);
  return [
    measurement(`/ok while a node computes for 30 s, ${mode}: p99`, percentile(latencies_ms, 0.99), 'ms', 20),
    measurement(
      `between two events of another run meanwhile, ${mode}: p99`,
      percentile(gaps_ms, 0.99),
      'ms',
      50,
    ),
    measurement(
      `between two events of another run meanwhile, ${mode}: longest`,
      Math.max(...gaps_ms),
      'ms',
      50,
    ),
    measurement(`executions of the node that computes, ${mode}`, result.blocked ?? Number.NaN, ''),
  ];
}

function measurement(what: string, value: number, unit: Unit, aim?: number): Measurement {
  return { what, value, unit, ...(aim !== undefined && { aim }) };
}

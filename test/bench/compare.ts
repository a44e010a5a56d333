import { type HttpClient, httpClient } from '../support/http-client.ts';
import { benchServer, ECHO, TEN_STEPS } from './bench-server.ts';
import type { Measurement, Result, Unit } from './measurements.ts';
import { converse } from './scenarios/reads.ts';
import { inTurns, type Turns, type TurnsLoad } from './side-by-side.ts';

/** How much is measured. */
export interface Extent {
  /** Each load in so many parts, one server after the other: the machine is equally busy for both. */
  readonly rounds: number;
  /** Without it, all loads. */
  readonly loads?: readonly string[];
}

const WHOLE: Extent = { rounds: 6 };

/** A server under comparison. It has the graphs of `test/bench/agent.config.yaml`. */
interface Compared {
  /** `this server`, perhaps with hosts, or the address of another. */
  readonly name: string;
  readonly http: HttpClient;
  /** Of the server, with the processes that it started; without it, CPU is not compared. */
  readonly pid?: number | undefined;
  /** A conversation of 30 kB. */
  readonly thread_id: string;
}

type ComparedLoad = TurnsLoad<Compared>;

const wait = (run: object) => (server: Compared) => server.http.call('POST', '/runs/wait', run);
const TOKENS = { assistant_id: 'tokens', input: { count: 200 }, stream_mode: ['messages-tuple'] };

const LOADS: readonly ComparedLoad[] = [
  { what: 'echo, 1 at once', concurrency: 1, count: 50, request: wait(ECHO) },
  { what: 'echo, 16 at once', concurrency: 16, count: 160, request: wait(ECHO) },
  { what: 'echo, 64 at once', concurrency: 64, count: 320, request: wait(ECHO) },
  { what: 'ten steps, 16 at once', concurrency: 16, count: 64, request: wait(TEN_STEPS) },
  { what: '200 tokens, 16 at once', concurrency: 16, count: 32, request: readStream },
  {
    what: 'state of 30 kB',
    concurrency: 8,
    count: 100,
    request: ({ http, thread_id }) => http.call('GET', `/threads/${thread_id}/state`),
  },
  {
    what: 'history of ten',
    concurrency: 8,
    count: 40,
    request: ({ http, thread_id }) => http.call('GET', `/threads/${thread_id}/history?limit=10`),
  },
  {
    what: 'POST /threads',
    concurrency: 16,
    count: 200,
    request: ({ http }) => http.call('POST', '/threads', {}),
  },
];

async function readStream({ http }: Compared): Promise<void> {
  const { events } = await http.stream('POST', '/runs/stream', { body: TOKENS });
  for await (const _ of events);
}

/** Another server. `pid`: its process, if it runs on this machine, to compare CPU. */
export interface OtherServer {
  readonly url: string;
  readonly pid?: number | undefined;
}

/**
 * The same load on a server of this repository, on the same with `hosts` graph hosts (0: not measured), and on the
 * others, in turns. Throws if one does not give the same results.
 */
export async function compareWith(
  others: readonly OtherServer[],
  hosts: number,
  { rounds, loads }: Extent = WHOLE,
): Promise<Result> {
  await using stack = new AsyncDisposableStack();
  const servers: Compared[] = [];
  const add = async (name: string, http: HttpClient, pid: number | undefined) => {
    await requireSameResults(name, http);
    servers.push({ name, http, pid, thread_id: await converse(http) });
  };
  for (const count of hosts === 0 ? [0] : [0, hosts]) {
    const env = { AGENT_SERVER_HOSTS: String(count) };
    const ours = stack.use(await benchServer({ concurrency: 64, env }));
    const name =
      count === 0 ? 'this server' : `this server, ${count} graph ${count === 1 ? 'host' : 'hosts'}`;
    await add(name, ours.http, ours.process.pid);
  }
  for (const { url, pid } of others) await add(url, stack.use(httpClient(url.replace(/\/$/, ''))), pid);
  const measurements: Measurement[] = [];
  for (const load of LOADS)
    if (loads?.includes(load.what) ?? true) measurements.push(...(await compare(servers, load, rounds)));
  return { scenario: 'compare', title: 'Compared, the same load in turns', measurements };
}

/** A server that answers something else is not compared: it may do less. */
async function requireSameResults(name: string, http: HttpClient): Promise<void> {
  const { n, executed } = await http.call<{ n: number; executed: number[] }>('POST', '/runs/wait', TEN_STEPS);
  const { messages } = await http.call<{ messages: unknown[] }>('POST', '/runs/wait', ECHO);
  if (n !== 10 || executed.join() !== '1,2,3,4,5,6,7,8,9,10' || messages.length !== 2) {
    throw new Error(`${name} does not execute the graphs of test/bench/agent.config.yaml: n is ${n}, and echo has \
${messages.length} messages.`);
  }
}

async function compare(
  servers: readonly Compared[],
  load: ComparedLoad,
  rounds: number,
): Promise<Measurement[]> {
  const turns = await inTurns(servers, load, ({ pid }) => pid, rounds);
  const of = (key: keyof Turns, what: string, unit: Unit) =>
    ratios(
      `${load.what}, ${what}:`,
      unit,
      servers.map(({ name }, index) => [name, (turns[index] as Turns)[key]] as const),
    );
  return [
    ...of('p50_ms', 'p50', 'ms'),
    ...of('p95_ms', 'p95', 'ms'),
    ...of('rate', 'rate', 'requests/s'),
    ...(servers.every(({ pid }) => pid !== undefined) ? of('cpu_ms', 'CPU', 'ms') : []),
  ];
}

/** All values, and how many times that of this server each other one is. */
function ratios(
  what: string,
  unit: Unit,
  values: readonly (readonly [name: string, value: number])[],
): Measurement[] {
  const [[, ours] = ['', Number.NaN], ...others] = values;
  return [
    ...values.map(([name, value]): Measurement => ({ what: `${what} ${name}`, value, unit })),
    ...others.map(
      ([name, value]): Measurement => ({
        what: `${what} ${name} ÷ this server`,
        value: value / ours,
        unit: '×',
      }),
    ),
  ];
}

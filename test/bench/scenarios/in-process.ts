import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runCheckpointer } from '../../../src/graphs/checkpointer/open.ts';
import type { Lease } from '../../../src/storage/runs/lease.ts';
import { openStorage, type Storage } from '../../../src/storage/storage.ts';
import { newRun, request, WORKER } from '../../support/queued-runs.ts';
import { benchServer, ECHO, TEN_STEPS } from '../bench-server.ts';
import { measureLoad } from '../load.ts';
import { type Measurement, percentile, type Scenario } from '../measurements.ts';

/** Enough for the compilers to have seen everything. */
const WARM_UP = 300;
const COUNT = 1000;

interface Cost {
  readonly cpu_ms: number;
  readonly p50_ms: number;
}

interface ServedCost extends Cost {
  /** With 16 requests under way at any time, which share commits. */
  readonly crowded_cpu_ms: number;
}

/** The same graphs without a server: what is left when everything but LangGraph and the checkpointer is taken away. */
export const inProcess: Scenario = {
  title:
    'The server beside the same graph invoked in this process, with the same checkpointer on a SQLite file',
  async run() {
    const alone = await invokeAlone();
    const served = await invokeServed();
    return [
      ...compare('echo', alone.echo, served.echo, 1.5),
      ...compare('ten steps', alone.tenSteps, served.tenSteps),
    ];
  },
};

function compare(graph: string, alone: Cost, served: ServedCost, aim?: number): Measurement[] {
  const ratio = (what: string, cpu_ms: number): Measurement => ({
    what: `${graph}: ${what} ÷ in process`,
    value: cpu_ms / alone.cpu_ms,
    unit: '×',
    ...(aim === undefined ? {} : { aim }),
  });
  return [
    { what: `${graph}: p50 in process`, value: alone.p50_ms, unit: 'ms' },
    { what: `${graph}: p50 of the server`, value: served.p50_ms, unit: 'ms' },
    { what: `${graph}: CPU in process`, value: alone.cpu_ms, unit: 'ms' },
    { what: `${graph}: CPU of the server, 1 at once`, value: served.cpu_ms, unit: 'ms' },
    { what: `${graph}: CPU of the server, 16 at once`, value: served.crowded_cpu_ms, unit: 'ms' },
    ratio('CPU of the server, 1 at once', served.cpu_ms),
    ratio('CPU of the server, 16 at once', served.crowded_cpu_ms),
  ];
}

async function invokeServed(): Promise<Record<'echo' | 'tenSteps', ServedCost>> {
  await using server = await benchServer({ concurrency: 16 });
  const cost = async (run: unknown) => {
    const invoke = () => server.http.call('POST', '/runs/wait', run);
    const cpu_ms = () => server.cpu() * 1000;
    const crowded = await measureCost(invoke, cpu_ms, 16);
    return { ...(await measureCost(invoke, cpu_ms)), crowded_cpu_ms: crowded.cpu_ms };
  };
  return { echo: await cost(ECHO), tenSteps: await cost(TEN_STEPS) };
}

async function invokeAlone(): Promise<Record<'echo' | 'tenSteps', Cost>> {
  // As the server does; it must be set before LangChain loads.
  process.env['LANGCHAIN_CALLBACKS_BACKGROUND'] ??= 'false';
  const { graph: echo } = await import('../../../examples/echo/graph.ts');
  const { graph: tenSteps } = await import('../../fixtures/graphs/ten-steps.ts');
  const folder = await mkdtemp(join(tmpdir(), 'agent-server-bench-'));
  try {
    await using storage = await openStorage({
      url: `sqlite:${join(folder, 'alone.db')}`,
      synchronous: 'full',
    });
    const lease = await someLease(storage);
    const cost = (graph: object, input: unknown) =>
      measureCost(() => invokeOnce(graph, input, storage, lease), processCpu);
    return { echo: await cost(echo, ECHO.input), tenSteps: await cost(tenSteps, TEN_STEPS.input) };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** On a thread of its own and with a checkpointer of its own, as each run of the server has them. */
async function invokeOnce(graph: object, input: unknown, storage: Storage, someLease: Lease): Promise<void> {
  const thread_id = randomUUID();
  const lease = { ...someLease, thread_id };
  const writes = storage.work.writeBuffer(lease, { onCommitted: () => {}, onError: () => {} });
  const checkpointer = runCheckpointer({ ...storage, writes, lease, durability: 'async', record: 'off' });
  const own = Object.assign(Object.create(Object.getPrototypeOf(graph)), graph, { checkpointer });
  await own.invoke(input, { configurable: { thread_id } });
  await writes.commit();
}

/** One after the other by default, because the in-process measurement has no other way. */
async function measureCost(
  invoke: () => Promise<unknown>,
  cpu_ms: () => number,
  concurrency = 1,
): Promise<Cost> {
  await measureLoad({ concurrency, count: WARM_UP, request: invoke });
  const before = cpu_ms();
  const { latencies_ms } = await measureLoad({ concurrency, count: COUNT, request: invoke });
  return { cpu_ms: (cpu_ms() - before) / COUNT, p50_ms: percentile(latencies_ms, 0.5) };
}

/** The checkpointer writes for the holder of a lease only; who holds it does not change the cost. */
async function someLease({ queue }: Storage): Promise<Lease> {
  await queue.enqueue(request(newRun(randomUUID())));
  const [claimed] = await queue.claim({ worker_id: WORKER.worker_id, token: randomUUID(), limit: 1 });
  if (!claimed) throw new Error('no run was claimed');
  return claimed.lease;
}

function processCpu(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

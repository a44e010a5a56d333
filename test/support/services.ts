import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parse } from 'yaml';
import type { Clock } from '../../src/core/clock.ts';
import { systemIds } from '../../src/core/ids.ts';
import { silentLogger } from '../../src/core/logger.ts';
import { memoryBus } from '../../src/events/bus.ts';
import { SafetyPoll } from '../../src/events/safety-poll.ts';
import { LiveRuns } from '../../src/events/writer.ts';
import { threadCheckpointer } from '../../src/graphs/checkpointer/open.ts';
import type { GraphMemory, GraphRegistry } from '../../src/graphs/graph.ts';
import type { GraphSpec } from '../../src/graphs/project/configured-graphs.ts';
import { loadGraphs } from '../../src/graphs/runtime/load-graphs.ts';
import { graphStore } from '../../src/graphs/store/graph-store.ts';
import { longTermStore } from '../../src/graphs/store/long-term-store.ts';
import { assistantService } from '../../src/services/assistants/assistants.ts';
import { assistantRunDeletion } from '../../src/services/assistants/delete-runs.ts';
import type { SystemDefaults } from '../../src/services/assistants/system-assistants.ts';
import { runService } from '../../src/services/runs/runs.ts';
import { stateAfterRun } from '../../src/services/threads/state-after-run.ts';
import { threadStateService } from '../../src/services/threads/thread-state.ts';
import { threadService } from '../../src/services/threads/threads.ts';
import { type OpenStorage, openStorage, type Storage } from '../../src/storage/storage.ts';
import { sealerOfTests } from './encryption.ts';
import { policy } from './webhook-policy.ts';

const FIXTURES = resolve(import.meta.dirname, '../fixtures/graphs');

export type TestServices = Awaited<ReturnType<typeof openServices>>;

/**
 * The services over a SQLite file of their own and the graphs of the fixtures, without workers: a run stays pending.
 * `storage` is that of services whose test goes on as if the server had been started again.
 */
export async function openServices({
  graphs,
  storage,
  defaults = {},
  max_list_bytes,
}: {
  graphs?: string[];
  storage?: OpenStorage;
  defaults?: SystemDefaults;
  max_list_bytes?: number;
} = {}) {
  const opened = storage ?? (await temporaryStorage());
  const registry = await fixtureGraphs(graphs);
  const clock = steppedClock();
  const services = compose(opened, registry, clock, defaults, max_list_bytes);
  await services.assistants.syncSystem();
  return {
    ...services,
    storage: opened,
    clock,
    async [Symbol.asyncDispose]() {
      if (!storage) await opened[Symbol.asyncDispose]();
    },
  };
}

function compose(
  storage: Storage,
  graphs: GraphRegistry,
  clock: Clock,
  defaults: SystemDefaults,
  max_list_bytes?: number,
) {
  const bus = memoryBus();
  const ids = systemIds(clock);
  const stopped: string[] = [];
  const memory = (thread_id: string): GraphMemory => ({
    checkpointer: threadCheckpointer({ checkpoints: storage.checkpoints, thread_id, ids }),
    store: graphStore(longTermStore({ items: storage.storeItems, ttl: { refresh_on_read: true } })),
  });
  const threadState = threadStateService({ ...storage, graphs, memory, clock, ids, bus });
  const { refreshStatus, refreshState } = threadState;
  const storeStateAfterRun = stateAfterRun({ ...storage, graphs, memory, bus, logger: silentLogger });
  const assistants = assistantService({
    ...storage,
    graphs,
    clock,
    ids,
    defaults,
    max_recursion_limit: 10_000,
    bus,
    runs: assistantRunDeletion({ ...storage, bus, refreshState }),
  });
  const live = new LiveRuns();
  const sources = {
    live,
    poll: new SafetyPoll(storage.logEnds, live, bus),
    log: storage.events,
    unsharedLog: storage.events,
    bus,
  };
  return {
    assistants,
    threads: threadService({
      ...storage,
      bus,
      importHistory: threadState.importHistory,
      default_ttl: undefined,
      clock,
      ids,
      notifyCancelled: (run_ids) => stopped.push(...run_ids),
    }),
    threadState,
    storeStateAfterRun,
    runs: runService({
      ...storage,
      refreshStatus,
      storeStateAfterRun,
      ...(max_list_bytes !== undefined && { max_list_bytes }),
      assistants,
      sources,
      bus,
      clock,
      ids,
      webhooks: policy(),
      log_retention_ms: 60_000,
      max_recursion_limit: 10_000,
      default_ttl: undefined,
    }),
    /** The runs whose workers were told that they are gone. */
    stopped,

    /** Runs a graph on a thread to its end or interrupt, as a worker would but without a run. */
    async execute(thread_id: string, graph_id: string, input: unknown): Promise<void> {
      const config = { configurable: { thread_id } };
      const graph = await graphs.get(graph_id, config, 'threads.create_run');
      const call = {
        input,
        command: null,
        config,
        context: {},
        stream_mode: ['values' as const],
        subgraphs: false,
        interrupt_before: null,
        interrupt_after: null,
        durability: 'sync' as const,
        memory: memory(thread_id),
        signal: new AbortController().signal,
      };
      for await (const _ of graph.stream(call));
    },
  };
}

async function temporaryStorage(): Promise<OpenStorage> {
  const folder = await mkdtemp(join(tmpdir(), 'agent-server-services-'));
  const storage = await openStorage({
    url: `sqlite:${join(folder, 'server.db')}`,
    synchronous: 'normal',
    encryptor: sealerOfTests(),
  });
  return {
    ...storage,
    async [Symbol.asyncDispose]() {
      await storage[Symbol.asyncDispose]();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Loaded once for a file of tests: compiling them takes longer than most tests. */
const loaded = new Map<string, Promise<GraphRegistry>>();

export function fixtureGraphs(
  ids: string[] = ['echo', 'counter', 'interrupting', 'nested'],
): Promise<GraphRegistry> {
  const key = ids.join();
  const registry =
    loaded.get(key) ?? loadGraphs(ids.map(fixtureSpec), { root: FIXTURES, logger: silentLogger });
  loaded.set(key, registry);
  return registry;
}

function fixtureSpec(graph_id: string): GraphSpec {
  const config = parse(readFileSync(join(FIXTURES, 'agent.config.yaml'), 'utf8')) as {
    graphs: Record<string, string | { path: string; description: string }>;
  };
  const entry = config.graphs[graph_id];
  const { path, description } =
    typeof entry === 'string'
      ? { path: entry, description: null }
      : (entry ?? { path: '', description: null });
  const [file = '', name = ''] = path.split(':');
  return { graph_id, path: file, export: name, description };
}

/** Stands still until a test moves it. */
function steppedClock() {
  let ms = Date.parse('2026-06-01T12:00:00.000Z');
  return {
    now: () => ms,
    monotonic: () => ms,
    advance(by_ms: number) {
      ms += by_ms;
    },
  };
}

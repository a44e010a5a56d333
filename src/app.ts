import type { FastifyInstance } from 'fastify';
import type { Config } from './config/schema.ts';
import { VERSION } from './config/version.ts';
import { type Clock, systemClock } from './core/clock.ts';
import { type Ids, systemIds } from './core/ids.ts';
import type { Logger } from './core/logger.ts';
import { LiveRuns } from './events/live-runs.ts';
import { memoryBus } from './events/memory-bus.ts';
import { runCheckpointer, threadCheckpointer } from './graphs/checkpointer.ts';
import type { GraphRegistry } from './graphs/graph.ts';
import { graphStore } from './graphs/graph-store.ts';
import { langgraphVersion } from './graphs/library-version.ts';
import { loadGraphs } from './graphs/registry.ts';
import { createServer } from './http/server.ts';
import { assistantRuns } from './services/assistant-runs.ts';
import { assistantService } from './services/assistants.ts';
import { eventStreamingService } from './services/event-streaming/event-streaming.ts';
import { idempotencyService } from './services/idempotency.ts';
import { runExplain } from './services/run-explain.ts';
import { runService } from './services/runs.ts';
import { statelessRunService } from './services/stateless-runs.ts';
import { threadStateService } from './services/thread-state.ts';
import { threadStreamService } from './services/thread-stream.ts';
import { threadService } from './services/threads.ts';
import { openStorage, type Storage } from './storage/storage.ts';
import type { Ttl } from './storage/thread-ttl.ts';
import { type Engine, type EngineOptions, engine } from './workers/engine.ts';
import type { AttemptRules } from './workers/run-attempt.ts';

export interface AppOptions {
  readonly logger: Logger;
  readonly clock?: Clock;
  readonly ids?: Ids;
}

/** A whole server: made, started, and stopped as one. */
export interface App extends AsyncDisposable {
  readonly server: FastifyInstance;
  readonly graphs: GraphRegistry;
  /** Begins to answer requests. */
  listen(): Promise<{ host: string; port: number; url: string }>;
  /** Begins to execute runs, first those that an earlier process left. */
  ready(): Promise<void>;
  /** Ends streams, gives executing runs `grace_ms`, puts the rest back into the queue, and closes. */
  stop(grace_ms: number): Promise<void>;
}

/** What the parts are made of. */
interface Ground {
  readonly config: Config;
  readonly logger: Logger;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly storage: Storage;
  readonly graphs: GraphRegistry;
}

/** The one place that wires: storage, graphs, services, server and workers (DESIGN §3). */
export async function createApp(config: Config, options: AppOptions): Promise<App> {
  const storage = await openStorage(config.storage);
  try {
    return await appOver(storage, config, options);
  } catch (error) {
    await storage[Symbol.asyncDispose]();
    throw error;
  }
}

async function appOver(storage: Storage, config: Config, options: AppOptions): Promise<App> {
  const { logger, clock = systemClock } = options;
  const ids = options.ids ?? systemIds(clock);
  const graphs = await loadGraphs(config.graphs, { root: config.root, logger });
  const { services, workers } = wire({ config, logger, clock, ids, storage, graphs });
  await services.assistants.syncSystem();
  if (isAlone(config)) await storage.idempotency.releaseAll();
  const server = await createServer({
    services,
    engine: {
      queue: storage.queue.figures,
      workers: workers.figures,
      ping: storage.ping,
      isDraining: workers.isDraining,
    },
    options: { ...config.http, ...config.server },
    info: {
      version: VERSION,
      langgraph_version: await langgraphVersion(config.root),
      graph_ids: graphs.ids,
    },
    logger,
    ids,
  });
  return appOf({ config, server, graphs, workers, storage });
}

function appOf({
  config,
  server,
  graphs,
  workers,
  storage,
}: {
  config: Config;
  server: FastifyInstance;
  graphs: GraphRegistry;
  workers: Engine;
  storage: AsyncDisposable;
}): App {
  let stopping: Promise<void> | undefined;
  async function stop(grace_ms: number): Promise<void> {
    // The door stays open while runs finish, so that their clients see them end; `/ok` sends new ones elsewhere.
    await workers.stop(grace_ms);
    await server.close();
    await storage[Symbol.asyncDispose]();
  }
  return {
    server,
    graphs,
    async listen() {
      const { host, port } = config.server;
      const url = await server.listen({ host, port });
      return { host, port: Number(new URL(url).port), url };
    },
    ready: () => workers.start(),
    stop(grace_ms) {
      stopping ??= stop(grace_ms);
      return stopping;
    },
    [Symbol.asyncDispose]() {
      return this.stop(0);
    },
  };
}

/** Services and workers over the same storage; they meet only there and in the bus. */
function wire(ground: Ground) {
  const { config, storage, graphs, clock, ids, logger } = ground;
  const { queue, events: log, threadLog, checkpoints, runs, threads, assistants } = storage;
  const bus = memoryBus();
  const live = new LiveRuns();
  const store = graphStore(storage.storeItems);
  const keep_log_ms = config.runs.stream_ttl_seconds * 1000;
  const default_ttl = defaultTtl(config.checkpointer);
  const keys = storage.idempotency;
  const base = { queue, runs, threads, checkpoints, graphs, clock, ids, bus, keep_log_ms, default_ttl };
  const sources = { live, log, threadLog, bus, isInFlight: queue.isInFlight };

  const threadState = threadStateService({
    ...base,
    assistants,
    memory: (thread_id) => ({ checkpointer: threadCheckpointer({ checkpoints, thread_id, ids }), store }),
  });
  const { settle } = threadState;
  const assistantsService = assistantService({
    ...base,
    assistants,
    defaults: config.assistants,
    runs: assistantRuns({ ...base, settle }),
  });
  const runDeps = { ...base, sources, settle, assistants: assistantsService };
  const runsService = runService(runDeps);
  const services = {
    assistants: assistantsService,
    threads: threadService({
      ...base,
      replay: threadState.replay,
      control: (run_ids) => run_ids.forEach(stopRun),
    }),
    threadState,
    threadStream: threadStreamService({ threads, sources }),
    runs: runsService,
    idempotency: idempotencyService({ keys }),
    explain: runExplain({ ...base, max_attempts: config.runs.max_attempts }),
    eventStreaming: eventStreamingService({
      ...base,
      runs: runsService,
      threadState,
      runRows: runs,
      sources,
      logger,
    }),
    statelessRuns: statelessRunService(runDeps),
  };
  const workers = engine(
    {
      ...base,
      log,
      keys,
      live,
      logger,
      writes: storage.attemptWrites,
      memory: (writes, lease, durability) => ({
        checkpointer: runCheckpointer({ checkpoints, writes, lease, durability }),
        store,
      }),
      rules: attemptRules(config.runs, keep_log_ms),
    },
    engineOptions(config),
  );
  return { services, workers };

  function stopRun(run_id: string): void {
    bus.control(run_id);
    bus.hint(run_id);
  }
}

function defaultTtl({ ttl: { strategy, default_ttl: ttl } }: Config['checkpointer']): Ttl | undefined {
  return ttl === undefined ? undefined : { strategy, ttl };
}

function attemptRules({ timeout_seconds }: Config['runs'], keep_log_ms: number): AttemptRules {
  return { timeout_ms: timeout_seconds * 1000, keep_log_ms, retry_ms: 1000, version: VERSION };
}

/** A SQLite file belongs to one process. */
function isAlone({ storage }: Pick<Config, 'storage'>): boolean {
  return storage.url.startsWith('sqlite:');
}

function engineOptions({ runs, storage, checkpointer: { ttl } }: Config): EngineOptions {
  return {
    concurrency: runs.concurrency,
    max_attempts: runs.max_attempts,
    alone: isAlone({ storage }),
    version: VERSION,
    pid: process.pid,
    expiry: { interval_ms: ttl.sweep_interval_minutes * 60_000, limit: ttl.sweep_limit },
  };
}

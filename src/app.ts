import type { FastifyInstance } from 'fastify';
import { type AccessControl, openAccessControl } from './app/auth.ts';
import type { AppContext } from './app/context.ts';
import { openCustomApp, openCustomTools, postInProcess } from './app/custom-app.ts';
import { openEncryptor } from './app/encryption.ts';
import { openGraphs } from './app/graphs.ts';
import { openLongTermStore } from './app/long-term-store.ts';
import { serviceSettings } from './app/service-settings.ts';
import { runWebhookRules, wireWebhookPolicy } from './app/webhooks.ts';
import { isSingleProcess, wireWorkers } from './app/workers.ts';
import { isTracingEnabled } from './config/env.ts';
import type { Config } from './config/schema.ts';
import { VERSION } from './config/version.ts';
import { type Clock, systemClock, timestamp } from './core/clock.ts';
import { type Ids, systemIds } from './core/ids.ts';
import { closeAll } from './core/lifecycle.ts';
import type { Logger } from './core/logger.ts';
import { memoryBus } from './events/bus.ts';
import { LiveRuns } from './events/writer.ts';
import type { GraphRegistry } from './graphs/graph.ts';
import { type LangSmithTraces, traceInBackground } from './graphs/observability/langsmith-traces.ts';
import { langgraphVersion } from './graphs/project/user-module.ts';
import { graphStore } from './graphs/store/graph-store.ts';
import type { HostPool } from './hosts/pool/pool.ts';
import { bindInProcessClient } from './http/in-process.ts';
import { createServer } from './http/server.ts';
import { createServices } from './services/all-services.ts';
import type { QueueReport } from './storage/queue/context.ts';
import { openStorage, type Storage } from './storage/storage.ts';
import type { Engine, EngineOptions } from './workers/engine.ts';

export interface AppOptions {
  readonly logger: Logger;
  readonly clock?: Clock;
  readonly ids?: Ids;
  /** Log probable misspellings of body fields. */
  readonly gives_hints?: boolean;
  /** Run that crashed the previous process: it fails instead of being retried. */
  readonly crashed_run?: EngineOptions['crashed_run'];
}

/** A complete server with one life cycle: create, start, stop. */
export interface App extends AsyncDisposable {
  readonly server: FastifyInstance;
  readonly graphs: GraphRegistry;
  /** Begins to accept requests. */
  listen(): Promise<{ host: string; port: number; url: string }>;
  /** Starts the workers; runs left by an earlier process are recovered first. */
  ready(): Promise<void>;
  /**
   * Graceful drain: ends streams, gives executing runs `grace_ms`, requeues the rest, and closes. A failing step does
   * not skip the others; its error is thrown at the end.
   */
  stop(grace_ms: number): Promise<void>;
}

/** Composition root: wires storage, graphs, services, server and workers (DESIGN §3). */
export async function createApp(config: Config, options: AppOptions): Promise<App> {
  const encryptor = await openEncryptor(config);
  const storage = await openStorage({
    ...config.storage,
    encryptor,
    webhooks: runWebhookRules(config),
    report: queueReport(options.logger),
  });
  try {
    return await buildApp(storage, config, options);
  } catch (error) {
    await storage[Symbol.asyncDispose]();
    throw error;
  }
}

/** Logs problems from which the queue has recovered. */
function queueReport(logger: Logger): QueueReport {
  return ({ what, ...problem }) => {
    if (problem.error === undefined) logger.warn(what, { ...problem });
    else logger.error(what, { ...problem });
  };
}

async function buildApp(storage: Storage, config: Config, options: AppOptions): Promise<App> {
  const { logger, clock = systemClock } = options;
  const ids = options.ids ?? systemIds(clock);
  const end = new AbortController();
  const drain = new AbortController();
  const longTermStore = await openLongTermStore(config, storage, logger);
  const { graphs, hosts } = await openGraphs(config, { longTermStore, logger, clock, end: end.signal });
  // Graph hosts trace by themselves.
  const traces = isTracingEnabled() && !hosts ? await traceInBackground(config.root) : undefined;
  const access = await openAccessControl(config, storage, { clock, ids });
  const context: AppContext = {
    config,
    logger,
    clock,
    ids,
    worker_id: ids.uuid4(),
    storage,
    graphs,
    bus: memoryBus(),
    live: new LiveRuns(),
    longTermStore,
    store: graphStore(longTermStore),
    webhooks: wireWebhookPolicy(config),
    postToCustomApp: (request, signal) => postInProcess(server, request, signal),
    access,
    draining: drain.signal,
    crashed_run: options.crashed_run,
    log_retention_ms: config.runs.stream_ttl_seconds * 1000,
  };
  const services = createServices(context, serviceSettings(config));
  const workers = wireWorkers(context, services);
  await services.assistants.syncSystem();
  if (isSingleProcess(config)) await storage.idempotency.releaseAll();
  // Before the first request: other processes take over idempotency keys of a process that is not registered.
  await workers.register();
  const server = await createServer({
    services,
    engine: {
      queue: storage.queue.stats,
      workers: workers.stats,
      webhooks: workers.webhooks,
      onRunEnded: workers.onRunEnded,
      crons: () => storage.crons.stats(timestamp(clock.now())),
      hosts: graphs.hosts,
      ping: storage.ping,
      isDraining: () => drain.signal.aborted,
    },
    options: { ...config.http, ...config.server, served_hosts: servedHosts(config.server, access) },
    auth: { ...access, openapi: config.auth.openapi },
    info: {
      version: VERSION,
      langgraph_version: await langgraphVersion(config.root),
      graph_ids: graphs.ids,
      crons: config.crons.enabled && !config.http.disable_runs,
    },
    logger,
    ids,
    gives_hints: options.gives_hints ?? false,
    customApp: await openCustomApp(config),
    registerCustomTools: await openCustomTools(config),
  });
  const loopback = bindInProcessClient(server, config.http.mount_prefix);
  return appLifecycle({ config, server, graphs, hosts, workers, storage, traces, drain, end, loopback });
}

/** DNS rebinding is harmless where keys are required; without authentication, only these host names are accepted. */
function servedHosts(
  { allowed_hosts }: Config['server'],
  { authenticate }: AccessControl,
): readonly string[] | undefined {
  return authenticate ? undefined : allowed_hosts;
}

function appLifecycle({
  config,
  server,
  graphs,
  hosts,
  workers,
  storage,
  traces,
  drain,
  end,
  loopback,
}: {
  config: Config;
  server: FastifyInstance;
  graphs: GraphRegistry;
  hosts: HostPool | undefined;
  workers: Engine;
  storage: AsyncDisposable;
  traces: LangSmithTraces | undefined;
  /** Fails the readiness check, so that new runs go to another process. */
  drain: AbortController;
  /** Stops the background extraction of graph schemas. */
  end: AbortController;
  loopback: Disposable;
}): App {
  let stopping: Promise<void> | undefined;
  function stop(grace_ms: number): Promise<void> {
    drain.abort();
    return closeAll([
      // The server keeps serving while runs finish, so that clients see them end; `/ok` diverts new requests.
      () => workers.stop(grace_ms),
      () => traces?.flush(),
      () => end.abort(),
      () => loopback[Symbol.dispose](),
      () => server.close(),
      () => hosts?.[Symbol.asyncDispose](),
      () => storage[Symbol.asyncDispose](),
    ]);
  }
  return {
    server,
    graphs,
    async listen() {
      const { host, port } = config.server;
      const url = await server.listen({ host, port });
      return { host, port: Number(new URL(url).port), url };
    },
    async ready() {
      // A project that cannot be loaded is reported by its graphs.
      await hosts?.listing.catch(() => {});
      await workers.start();
    },
    stop(grace_ms) {
      stopping ??= stop(grace_ms);
      return stopping;
    },
    [Symbol.asyncDispose]() {
      return this.stop(0);
    },
  };
}

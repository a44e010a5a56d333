import { join } from 'node:path';
import type { FastifyInstance } from 'fastify';
import { type Access, openAccess } from './app/auth.ts';
import { dataFolder } from './app/data-folder.ts';
import { openSealer } from './app/encryption.ts';
import type { Ground } from './app/ground.ts';
import { openLongTermStore } from './app/long-term-store.ts';
import { openOwnApp, openOwnTools, postInside } from './app/own-app.ts';
import { wireServices } from './app/services.ts';
import { runWebhookRules, wirePolicy } from './app/webhooks.ts';
import { isAlone, wireWorkers } from './app/workers.ts';
import { isTracing } from './config/env.ts';
import type { Config } from './config/schema.ts';
import { VERSION } from './config/version.ts';
import { type Clock, systemClock, timestamp } from './core/clock.ts';
import { closeAll } from './core/close-all.ts';
import { type Ids, systemIds } from './core/ids.ts';
import type { Logger } from './core/logger.ts';
import { LiveRuns } from './events/live-runs.ts';
import { memoryBus } from './events/memory-bus.ts';
import type { GraphRegistry } from './graphs/graph.ts';
import { graphStore } from './graphs/graph-store.ts';
import { langgraphVersion } from './graphs/library-version.ts';
import { loadGraphs } from './graphs/registry.ts';
import { type Traces, traceBesideRuns } from './graphs/traces.ts';
import { bindLoopback } from './http/loopback.ts';
import { createServer } from './http/server.ts';
import type { QueueReport } from './storage/queue/report.ts';
import { openStorage, type Storage } from './storage/storage.ts';
import type { Engine, EngineOptions } from './workers/engine.ts';

export interface AppOptions {
  readonly logger: Logger;
  readonly clock?: Clock;
  readonly ids?: Ids;
  /** Says in the log what a client's developer has probably misspelt. */
  readonly gives_hints?: boolean;
  /** A run that ended the process before this one: it fails instead of being tried again. */
  readonly blamed?: EngineOptions['blamed'];
}

/** A whole server: made, started, and stopped as one. */
export interface App extends AsyncDisposable {
  readonly server: FastifyInstance;
  readonly graphs: GraphRegistry;
  /** Begins to answer requests. */
  listen(): Promise<{ host: string; port: number; url: string }>;
  /** Begins to execute runs, first those that an earlier process left. */
  ready(): Promise<void>;
  /**
   * Ends streams, gives executing runs `grace_ms`, puts the rest back into the queue, and closes: everything, also when
   * a part of it fails, which is thrown in the end.
   */
  stop(grace_ms: number): Promise<void>;
}

/** The one place that wires: storage, graphs, services, server and workers (DESIGN §3). */
export async function createApp(config: Config, options: AppOptions): Promise<App> {
  const sealer = await openSealer(config);
  const storage = await openStorage({
    ...config.storage,
    sealer,
    webhooks: runWebhookRules(config),
    report: queueReport(options.logger),
  });
  try {
    return await appOver(storage, config, options);
  } catch (error) {
    await storage[Symbol.asyncDispose]();
    throw error;
  }
}

/** What the queue met and went on from. */
function queueReport(logger: Logger): QueueReport {
  return ({ what, ...problem }) => {
    if (problem.error === undefined) logger.warn(what, { ...problem });
    else logger.error(what, { ...problem });
  };
}

async function appOver(storage: Storage, config: Config, options: AppOptions): Promise<App> {
  const { logger, clock = systemClock } = options;
  const ids = options.ids ?? systemIds(clock);
  const end = new AbortController();
  const drain = new AbortController();
  const graphs = await loadGraphs(config.graphs, {
    root: config.root,
    logger,
    types: { cache: join(dataFolder(config), 'schemas'), signal: end.signal },
  });
  const traces = isTracing() ? await traceBesideRuns(config.root) : undefined;
  const longTermStore = await openLongTermStore(config, storage, logger);
  const access = await openAccess(config, storage, { clock, ids });
  const ground: Ground = {
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
    webhooks: wirePolicy(config),
    postOwn: (request, signal) => postInside(server, request, signal),
    access,
    draining: drain.signal,
    blamed: options.blamed,
    keep_log_ms: config.runs.stream_ttl_seconds * 1000,
  };
  const { cronTicks, ...services } = wireServices(ground);
  const workers = wireWorkers(ground, { ...services, cronTicks });
  await services.assistants.syncSystem();
  if (isAlone(config)) await storage.idempotency.releaseAll();
  // Before the first request: others believe what this process has begun to answer.
  await workers.join();
  const server = await createServer({
    services,
    engine: {
      queue: storage.queue.figures,
      workers: workers.figures,
      webhooks: workers.webhooks,
      onRunEnded: workers.onRunEnded,
      crons: () => storage.crons.figures(timestamp(clock.now())),
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
    ownApp: await openOwnApp(config),
    registerMcp: await openOwnTools(config),
  });
  const loopback = bindLoopback(server, config.http.mount_prefix);
  return appOf({ config, server, graphs, workers, storage, traces, drain, end, loopback });
}

/** Where keys are asked for, a page with a foreign name learns nothing; a server for this machine only has its names. */
function servedHosts(
  { allowed_hosts }: Config['server'],
  { authenticate }: Access,
): readonly string[] | undefined {
  return authenticate ? undefined : allowed_hosts;
}

function appOf({
  config,
  server,
  graphs,
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
  workers: Engine;
  storage: AsyncDisposable;
  traces: Traces | undefined;
  /** Sends new runs elsewhere. */
  drain: AbortController;
  /** Ends what only serves requests. */
  end: AbortController;
  loopback: Disposable;
}): App {
  let stopping: Promise<void> | undefined;
  function stop(grace_ms: number): Promise<void> {
    drain.abort();
    return closeAll([
      // The server still answers while runs finish, so that their clients see them end; `/ok` sends new ones elsewhere.
      () => workers.stop(grace_ms),
      () => traces?.flush(),
      () => end.abort(),
      () => loopback[Symbol.dispose](),
      () => server.close(),
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

import type { FastifyInstance } from 'fastify';
import { openAccessControl } from './app/auth.ts';
import { type OpenBus, openBus } from './app/bus.ts';
import type { AppContext } from './app/context.ts';
import { openCustomApp, openCustomTools, postInProcess } from './app/custom-app.ts';
import { openEncryptor } from './app/encryption.ts';
import { openGraphs } from './app/graphs.ts';
import { openHosts, reloadProject } from './app/hosts.ts';
import { openLongTermStore } from './app/long-term-store.ts';
import { type OutputCapture, openCapture, outputRules } from './app/output.ts';
import { engineStatus, servedHosts, serverInfo } from './app/server-status.ts';
import { serviceSettings } from './app/service-settings.ts';
import { openTracing, type Tracing } from './app/tracing/tracing.ts';
import { runWebhookRules, wireWebhookPolicy } from './app/webhooks.ts';
import { isSingleProcess, wireWorkers } from './app/workers.ts';
import { isTracingEnabled } from './config/env.ts';
import type { Config } from './config/schema.ts';
import { VERSION } from './config/version.ts';
import { type Clock, systemClock } from './core/clock.ts';
import { type Ids, systemIds } from './core/ids.ts';
import { closeAll } from './core/lifecycle.ts';
import type { Logger } from './core/logger.ts';
import { LiveRuns } from './events/writer.ts';
import type { GraphRegistry } from './graphs/graph.ts';
import { uncapturedLogger } from './graphs/observability/capture-output.ts';
import { type LangSmithTraces, openTraces } from './graphs/observability/langsmith-traces.ts';
import { langgraphVersion } from './graphs/project/user-module.ts';
import { graphStore } from './graphs/store/graph-store.ts';
import { bundleUi } from './graphs/ui/bundle.ts';
import type { Asking } from './hosts/pool/ask.ts';
import { listenForHosts } from './hosts/pool/listener.ts';
import { remoteBundler } from './hosts/pool/project-code.ts';
import { bindInProcessClient } from './http/in-process.ts';
import { openMeters } from './http/metrics/meters.ts';
import { createServer } from './http/server.ts';
import { createServices, type Services } from './services/all-services.ts';
import type { QueueReport } from './storage/queue/context.ts';
import { openStorage, type Storage } from './storage/storage.ts';
import type { Engine, EngineOptions } from './workers/engine.ts';

export interface AppOptions {
  readonly logger: Logger;
  /**
   * What graphs print goes to `logger`, with its run and node. By default it goes to the console, as without the server.
   * Either way it is kept with the run.
   */
  readonly logs_output?: boolean;
  readonly clock?: Clock;
  readonly ids?: Ids;
  /** Log probable misspellings of body fields. */
  readonly gives_hints?: boolean;
  /** Run that crashed the previous process: it fails instead of being retried. */
  readonly crashed_run?: EngineOptions['crashed_run'];
  /** Ends the wait for a database that cannot be reached; `createApp` then rejects. */
  readonly stop?: AbortSignal;
}

/** A complete server with one life cycle: create, start, stop. */
export interface App extends AsyncDisposable {
  readonly server: FastifyInstance;
  readonly graphs: GraphRegistry;
  /** Begins to accept requests. */
  listen(): Promise<{ host: string; port: number; url: string }>;
  /**
   * Loads the project's code anew in graph hosts. Resolves to false if the server itself must start again for it: it
   * knows the custom routes of the old code. Rejects, and the old code stays, if the new one ends its process. Absent if
   * the code executes in this process.
   */
  readonly reload?: (() => Promise<boolean>) | undefined;
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
    log: options.logger,
    stop: options.stop,
    webhooks: runWebhookRules(config),
    fairness: config.runs,
    report: queueReport(options.logger),
  });
  const hosts = openHosts(config, { logger: options.logger, clock: options.clock ?? systemClock });
  const capture = hosts ? undefined : openCapture(options.logs_output ? options.logger : undefined);
  try {
    return await buildApp({ storage, hosts, capture }, config, options);
  } catch (error) {
    capture?.[Symbol.dispose]();
    await closeAll([() => hosts?.pool[Symbol.asyncDispose](), () => storage[Symbol.asyncDispose]()]);
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

interface OpenParts {
  readonly storage: Storage;
  readonly hosts: Asking | undefined;
  /** Only if graphs execute in this process. */
  readonly capture: OutputCapture | undefined;
}

async function buildApp(
  { storage, hosts, capture }: OpenParts,
  config: Config,
  options: AppOptions,
): Promise<App> {
  const { clock = systemClock } = options;
  const logger = uncapturedLogger(options.logger);
  const ids = options.ids ?? systemIds(clock);
  const end = new AbortController();
  const drain = new AbortController();
  const longTermStore = await openLongTermStore(config, storage, { logger, hosts });
  hosts?.pool.serveStore(longTermStore);
  const graphs = await openGraphs(config, { hosts: hosts?.pool, logger, end: end.signal });
  await capture?.nameNodes(config.root);
  // Graph hosts trace by themselves.
  const traces = hosts ? undefined : await openTraces(config.root, isTracingEnabled);
  const tracing = await openTracing(config.root, { storage, logger });
  const access = await openAccessControl(config, storage, { clock, ids, hosts });
  const worker_id = ids.uuid4();
  const meters = openMeters(config.metrics);
  const bus = await openBus({ config, ...storage, worker_id, clock, logger });
  const langgraph_js = await langgraphVersion(config.root);
  const versions = { server: VERSION, langgraph_js, node: process.versions.node };
  const context: AppContext = {
    config,
    logger,
    clock,
    ids,
    worker_id,
    storage,
    versions,
    graphs,
    bus: bus.bus,
    live: new LiveRuns(),
    longTermStore,
    store: graphStore(longTermStore),
    bundleUi: hosts ? remoteBundler(hosts) : bundleUi,
    webhooks: wireWebhookPolicy(config),
    postToCustomApp: (request, signal) => postInProcess(server, request, signal),
    access,
    meter: meters.meter,
    tracing,
    draining: drain.signal,
    crashed_run: options.crashed_run,
    log_retention_ms: config.runs.stream_ttl_seconds * 1000,
    output: outputRules(config, options.logs_output === true),
  };
  const services = createServices(context, serviceSettings(config));
  const workers = wireWorkers(context, services);
  await register(context, workers, services);
  const server = await createServer({
    services,
    engine: engineStatus(context, workers),
    meters,
    options: { ...config.http, ...config.server, served_hosts: servedHosts(config.server, access) },
    auth: { ...access, openapi: config.auth.openapi },
    info: serverInfo(context),
    logger,
    ids,
    gives_hints: options.gives_hints ?? false,
    customApp: await openCustomApp(config, hosts),
    extendMcpServer: await openCustomTools(config, hosts),
  });
  const loopback = bindInProcessClient(server, config.http.mount_prefix);
  const hostListener = hosts && (await listenForHosts(server, hosts.pool));
  const parts = { server, graphs, hosts, workers, bus, storage, traces, tracing, loopback, hostListener };
  return appLifecycle({ ...parts, config, drain, end, capture });
}

/**
 * Before the first request: other processes take over idempotency keys of a process that is not registered, and delete
 * the system assistants of graphs that no registered process serves.
 */
async function register(
  { config, storage, worker_id, graphs }: AppContext,
  workers: Engine,
  services: Services,
): Promise<void> {
  await workers.register();
  await storage.processes.register({ worker_id, role: config.server.role, hosts: graphs.hosts().length });
  await services.assistants.syncSystem();
  if (isSingleProcess(config)) await storage.idempotency.releaseAll();
}

function appLifecycle({
  config,
  server,
  graphs,
  hosts,
  workers,
  bus,
  storage,
  traces,
  tracing,
  drain,
  end,
  loopback,
  hostListener,
  capture,
}: {
  config: Config;
  server: FastifyInstance;
  graphs: GraphRegistry;
  hosts: Asking | undefined;
  workers: Engine;
  bus: OpenBus;
  storage: AsyncDisposable;
  traces: LangSmithTraces | undefined;
  tracing: Tracing | undefined;
  /** Fails the readiness check, so that new runs go to another process. */
  drain: AbortController;
  /** Stops the background extraction of graph schemas. */
  end: AbortController;
  loopback: Disposable;
  hostListener: AsyncDisposable | undefined;
  capture: OutputCapture | undefined;
}): App {
  let stopping: Promise<void> | undefined;
  function stop(grace_ms: number): Promise<void> {
    drain.abort();
    bus.drain();
    return closeAll([
      // The server keeps serving while runs finish, so that clients see them end; `/ok` diverts new requests.
      () => workers.stop(grace_ms),
      () => Promise.all([traces?.flush(), tracing?.flush()]),
      () => end.abort(),
      () => loopback[Symbol.dispose](),
      () => server.close(),
      () => hosts?.pool[Symbol.asyncDispose](),
      () => hostListener?.[Symbol.asyncDispose](),
      () => capture?.[Symbol.dispose](),
      () => bus[Symbol.asyncDispose](),
      () => storage[Symbol.asyncDispose](),
    ]);
  }
  return {
    server,
    graphs,
    reload: hosts && (() => reloadProject(hosts)),
    async listen() {
      const { host, port } = config.server;
      const url = await server.listen({ host, port });
      return { host, port: Number(new URL(url).port), url };
    },
    async ready() {
      // A project that cannot be loaded is reported by its graphs.
      await hosts?.pool.listing.catch(() => {});
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

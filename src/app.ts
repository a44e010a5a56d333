import { hostname } from 'node:os';
import { openAccessControl } from './app/auth.ts';
import type { AppContext } from './app/context.ts';
import { openCustomApp, postInProcess } from './app/custom-app.ts';
import { type Extensions, OWNED_DATA, openExtensions, pageOf, sectionsOfServer } from './app/extensions.ts';
import { openFoundation } from './app/foundation.ts';
import { openGraphs } from './app/graphs.ts';
import { resolveClientHost } from './app/host-lookups.ts';
import { type HostLease, openHostLease, openHostListener, openHosts } from './app/hosts.ts';
import { appLifecycle } from './app/lifecycle.ts';
import { openLongTermStore } from './app/long-term-store.ts';
import { type OutputCapture, openCapture, outputRules } from './app/output.ts';
import type { AppPlace, Foundation } from './app/place.ts';
import type { App, ReplaceableApp } from './app/replaceable-app.ts';
import { type EngineStatus, engineStatus, servedHosts, serverInfo } from './app/server-status.ts';
import { serviceSettings } from './app/service-settings.ts';
import { wireWebhookPolicy } from './app/webhooks.ts';
import { isSingleProcess, wireWorkers } from './app/workers.ts';
import { isTracingEnabled } from './config/env.ts';
import type { Config } from './config/schema.ts';
import { VERSION } from './config/version.ts';
import { type Clock, systemClock } from './core/clock.ts';
import { type Ids, systemIds } from './core/ids.ts';
import { closeAll } from './core/lifecycle.ts';
import type { Logger } from './core/logger.ts';
import type { RecentLog } from './core/recent-log.ts';
import type { Core } from './extensions/extension.ts';
import { uncapturedLogger } from './graphs/observability/capture-output.ts';
import { openTraces } from './graphs/observability/langsmith-traces.ts';
import { langgraphVersion } from './graphs/project/user-module.ts';
import { graphStore } from './graphs/store/graph-store.ts';
import type { Asking } from './hosts/pool/ask.ts';
import { bindInProcessClient } from './http/in-process.ts';
import { openMeters } from './http/metrics/meters.ts';
import { createServer } from './http/server.ts';
import { createServices, type Services } from './services/all-services.ts';
import type { Engine } from './workers/engine.ts';

export type { App } from './app/replaceable-app.ts';

export interface AppOptions {
  readonly logger: Logger;
  /** The newest lines of `logger`, for `GET /system/server-logs`. */
  readonly recent_log?: RecentLog | undefined;
  /**
   * What graphs print goes to `logger`, with its run and node. By default it goes to the console, as without the server.
   * Either way it is kept with the run.
   */
  readonly logs_output?: boolean;
  readonly clock?: Clock;
  readonly ids?: Ids;
  /** Whether to log probable misspellings of body fields. */
  readonly gives_hints?: boolean;
  /** Ends the wait for a database that cannot be reached; `createApp` then rejects. */
  readonly stop?: AbortSignal;
  /** What extensions are given, by their names: for tests. */
  readonly given?: Core['given'];
}

/** Composition root: wires storage, graphs, services, server and workers. */
export function createApp(config: Config, options: AppOptions): Promise<App> {
  return createReplaceableApp(config, options);
}

/** `place`: context of a deployment's app, which is not the whole server. */
export async function createReplaceableApp(
  config: Config,
  options: AppOptions,
  place?: AppPlace,
): Promise<ReplaceableApp> {
  const { clock = systemClock, logger } = options;
  const worker_id = (options.ids ?? systemIds(clock)).uuid4();
  const foundation =
    place?.foundation ??
    (await openFoundation(config, { logger, clock, worker_id, stop: options.stop, owned: OWNED_DATA }));
  let lease: HostLease | undefined;
  let hosts: Asking | undefined;
  let capture: OutputCapture | undefined;
  const endHosts = () => void hosts?.pool[Symbol.asyncDispose]();
  try {
    lease = openHostLease(config);
    hosts = await openHosts(config, { logger, clock, env: place?.environment, lease });
    capture = hosts ? undefined : openCapture(options.logs_output ? logger : undefined);
    place?.stop?.addEventListener('abort', endHosts, { once: true });
    if (place?.stop?.aborted) endHosts();
    return await buildApp({ foundation, worker_id, hosts, lease, capture, place }, config, options);
  } catch (error) {
    capture?.[Symbol.dispose]();
    await closeAll([
      () => hosts?.pool[Symbol.asyncDispose](),
      () => lease?.[Symbol.dispose](),
      () => place || foundation[Symbol.asyncDispose](),
    ]);
    throw error;
  } finally {
    place?.stop?.removeEventListener('abort', endHosts);
  }
}

interface OpenParts {
  readonly foundation: Foundation;
  readonly worker_id: string;
  readonly hosts: Asking | undefined;
  readonly lease: HostLease | undefined;
  /** Only if graphs execute in this process. */
  readonly capture: OutputCapture | undefined;
  readonly place: AppPlace | undefined;
}

async function buildApp(opened: OpenParts, config: Config, options: AppOptions): Promise<ReplaceableApp> {
  const { foundation, worker_id, hosts, lease, capture, place } = opened;
  const { clock = systemClock } = options;
  const { bus, live } = foundation;
  const storage = foundation.storage.ofApp();
  const logger = uncapturedLogger(options.logger);
  const ids = options.ids ?? systemIds(clock);
  const end = new AbortController();
  const drain = new AbortController();
  const output = outputRules(config, options.logs_output === true);
  const openDeps = { logger, clock, ids, end: end.signal };
  const project = await openProject(opened, config, openDeps);
  const { longTermStore, graphs, traces, access, versions } = project;
  const meters = openMeters(config.metrics);
  const context: AppContext = {
    ...{ config, logger, clock, ids, worker_id, storage, versions, graphs, live, longTermStore },
    process: { worker_id, host: hostname(), pid: process.pid },
    bus: bus.bus,
    store: graphStore(longTermStore),
    webhooks: wireWebhookPolicy(config),
    postToCustomApp: (request, signal) => postInProcess(server, request, signal),
    access,
    meter: meters.meter,
    draining: drain.signal,
    recent_log: options.recent_log,
    executor_id: place?.executor_id,
    warnings: () => extensions.warnings(),
    log_retention_ms: config.runs.stream_ttl_seconds * 1000,
    output,
  };
  const services = createServices(context, serviceSettings(config));
  // No other process uses a deployment's database, on either engine.
  const takes_over = place ? place.is_first : isSingleProcess(config);
  const core = coreOf(context, services, { ...opened, given: options.given ?? {} });
  const extensions = await openExtensions(config, core);
  const workers = wireWorkers(context, services, {
    takes_over,
    scope: place?.scope,
    lease_fd: lease?.fd,
    ...extensions,
  });
  const engine = engineStatus(context, workers, extensions.observer);
  const also_at = place?.root?.prefix;
  const parts = { context, services, engine, meters, hosts, extensions, also_at };
  const server = await register(context, workers, services, takes_over)
    .then(() => openServer(parts, options))
    .catch(async (error: unknown) => {
      await Promise.allSettled([extensions[Symbol.asyncDispose]()]);
      throw error;
    });
  // Project code in this process may use `new Client()`; a deployment's code runs in its hosts.
  const loopback = place ? undefined : bindInProcessClient(server, config.http.mount_prefix);
  const hostListener = hosts && (await openHostListener(server, hosts));
  return appLifecycle({
    ...{ server, services, engine, graphs, hosts, lease, workers, foundation, traces, extensions, loopback },
    ...{ hostListener, config, drain, end, capture, owns_foundation: !place },
  });
}

/** What extensions may use. */
function coreOf(
  context: AppContext,
  services: Services,
  { place, hosts, given }: OpenParts & Pick<Core, 'given'>,
): Omit<Core, 'extensions'> {
  const apps = {
    create: createReplaceableApp,
    openFoundation: (config, options) => openFoundation(config, { ...options, owned: OWNED_DATA }),
    resolveHost: resolveClientHost,
    sectionsOfServer,
    page: pageOf(context.config),
  } satisfies Core['apps'];
  const root = place?.server_root ?? context.config.root;
  const session_secrets = place?.root?.secrets ?? context.storage.secrets;
  return { ...context, services, root, hosts, apps, given, mask: context.output.mask, session_secrets };
}

interface ProjectDeps extends Pick<AppContext, 'logger' | 'clock' | 'ids'> {
  readonly end: AbortSignal;
}

/** Opens the project's code and what its configuration asks for. */
async function openProject(
  { foundation: { storage }, hosts, capture, place }: OpenParts,
  config: Config,
  { logger, clock, ids, end }: ProjectDeps,
) {
  const longTermStore = await openLongTermStore(config, storage, { logger, hosts });
  hosts?.pool.serveStore(longTermStore);
  const graphs = await openGraphs(config, { hosts: hosts?.pool, logger, end });
  await capture?.nameNodes(config.root);
  // Graph hosts trace by themselves.
  const traces = hosts ? undefined : await openTraces(config.root, isTracingEnabled);
  const access = await openAccessControl(config, storage, { clock, ids, hosts, ...place });
  const langgraph_js = await langgraphVersion(config.root);
  const versions = { server: VERSION, langgraph_js, node: process.versions.node };
  return { longTermStore, graphs, traces, access, versions };
}

/** Creates the HTTP server of an app; it does not listen yet. */
async function openServer(
  { context, services, engine, meters, hosts, extensions, also_at }: ServerParts,
  { gives_hints = false }: AppOptions,
) {
  const { config, access, logger, ids, clock } = context;
  const { http, server, auth } = config;
  return await createServer({
    extensions,
    ...{ services, engine, meters, logger, ids, clock, gives_hints },
    process: context.process,
    options: {
      ...{ ...http, ...server, also_at },
      served_hosts: servedHosts(server, access),
    },
    auth: { ...access, authenticate: extensions.authenticating(access.authenticate), openapi: auth.openapi },
    info: serverInfo(context),
    customApp: await openCustomApp(config, hosts),
    dispatch: extensions.dispatch,
  });
}

interface ServerParts {
  readonly context: AppContext;
  readonly services: Services;
  readonly engine: EngineStatus;
  readonly meters: ReturnType<typeof openMeters>;
  readonly hosts: Asking | undefined;
  readonly extensions: Extensions;
  /** A second mount prefix. */
  readonly also_at: string | undefined;
}

/**
 * Before the first request: other processes take over idempotency keys of a process that is not registered, and delete
 * the system assistants of graphs that no registered process serves.
 */
async function register(
  { config, storage, worker_id, graphs }: AppContext,
  workers: Engine,
  services: Services,
  takes_over: boolean,
): Promise<void> {
  await workers.register();
  await storage.processes.register({ worker_id, role: config.server.role, hosts: graphs.hosts().length });
  await services.assistants.syncSystem();
  if (takes_over) await storage.idempotency.releaseAll();
}

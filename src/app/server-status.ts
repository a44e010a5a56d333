import type { Config } from '../config/schema.ts';
import { VERSION } from '../config/version.ts';
import { timestamp } from '../core/clock.ts';
import type { Engine } from '../workers/engine.ts';
import type { RunObserver } from '../workers/run-observer.ts';
import type { AccessControl } from './auth.ts';
import type { AppContext } from './context.ts';

export type EngineStatus = ReturnType<typeof engineStatus>;

/** Statistics for metrics and health checks. */
export function engineStatus(
  { storage, graphs, clock, draining }: AppContext,
  workers: Engine,
  observer: RunObserver | undefined,
) {
  return {
    queue: storage.queue.stats,
    queueCounts: storage.queue.counts,
    workers: workers.stats,
    webhooks: workers.webhooks,
    onRunEnded: workers.onRunEnded,
    onStepsStored: workers.onStepsStored,
    crons: () => storage.crons.stats(timestamp(clock.now())),
    progress: () => workers.progress(clock.monotonic()),
    hosts: graphs.hosts,
    database: storage.databaseStats,
    storageBytes: storage.bytes,
    traces: observer?.stats,
    ping: storage.ping,
    isDraining: () => draining.aborted,
    isLoaded: () => graphs.loads() > 0,
    stuck: () => workers.stuck(clock.monotonic()),
  };
}

/** Server properties for `/info`. */
export function serverInfo({ config, graphs, versions }: AppContext) {
  return {
    version: VERSION,
    langgraph_version: versions.langgraph_js,
    graph_ids: graphs.ids,
    crons: config.crons.enabled && !config.http.disable_runs,
  };
}

/** DNS rebinding is harmless where keys are required; without authentication, only these host names are accepted. */
export function servedHosts(
  { allowed_hosts }: Config['server'],
  { authenticate }: AccessControl,
): readonly string[] | undefined {
  return authenticate ? undefined : allowed_hosts;
}

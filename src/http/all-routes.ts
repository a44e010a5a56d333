import type { FastifyInstance } from 'fastify';
import { commandRoutes, eventStreamRoutes } from './event-streaming/routes.ts';
import { webSocketRoutes } from './event-streaming/websocket.ts';
import { assistantGraphRoutes } from './routes/assistant-graphs.ts';
import { assistantVersionRoutes } from './routes/assistant-versions.ts';
import { assistantRoutes } from './routes/assistants.ts';
import { cronRoutes, cronRunRoutes } from './routes/crons.ts';
import { docsRoutes } from './routes/docs.ts';
import { cronExplainRoutes, deliveryExplainRoutes, threadExplainRoutes } from './routes/explain.ts';
import { healthRoutes } from './routes/health.ts';
import { interruptRoutes } from './routes/interrupts.ts';
import { keyRoutes } from './routes/keys.ts';
import { runGraphRoutes } from './routes/run-graph.ts';
import { newestLogRoutes, runLogRoutes } from './routes/run-logs.ts';
import { runSearchRoutes } from './routes/run-search.ts';
import { runStepRoutes } from './routes/run-steps.ts';
import { runStreamRoutes } from './routes/run-stream.ts';
import { runWaitRoutes } from './routes/run-wait.ts';
import { runExplainRoutes, runRoutes } from './routes/runs.ts';
import { serverLogRoutes } from './routes/server-log.ts';
import { statelessRunRoutes } from './routes/stateless-runs.ts';
import { storeRoutes } from './routes/store.ts';
import { changeRoutes, historyRoutes, leaseRoutes, overviewRoutes, systemRoutes } from './routes/system.ts';
import { threadStateRoutes } from './routes/thread-state.ts';
import { threadStreamRoutes } from './routes/thread-stream.ts';
import { threadTreeRoutes } from './routes/thread-tree.ts';
import { threadMaintenanceRoutes, threadRoutes } from './routes/threads.ts';
import { tokenRoutes } from './routes/tokens.ts';
import { webhookRoutes } from './routes/webhooks.ts';
import type { HttpOptions, RouteDeps, RoutePlugin } from './server-deps.ts';

interface RouteGroup {
  readonly isEnabled: (options: HttpOptions) => boolean;
  readonly plugins: readonly RoutePlugin[];
}

/** Every route except the root `/ok`, by the option that disables it, in the path order of the OpenAPI document. */
const ROUTES: readonly RouteGroup[] = [
  {
    isEnabled: ({ disable_assistants }) => !disable_assistants,
    plugins: [assistantRoutes, assistantVersionRoutes, assistantGraphRoutes],
  },
  {
    isEnabled: ({ disable_threads }) => !disable_threads,
    plugins: [
      threadRoutes,
      threadExplainRoutes,
      threadMaintenanceRoutes,
      interruptRoutes,
      threadTreeRoutes,
      threadStateRoutes,
      threadStreamRoutes,
      eventStreamRoutes,
      commandRoutes,
      webSocketRoutes,
    ],
  },
  {
    isEnabled: ({ disable_runs }) => !disable_runs,
    plugins: [
      runRoutes,
      runExplainRoutes,
      runGraphRoutes,
      runStepRoutes,
      runLogRoutes,
      runWaitRoutes,
      runStreamRoutes,
      statelessRunRoutes,
      runSearchRoutes,
      cronRoutes,
      cronRunRoutes,
      cronExplainRoutes,
      webhookRoutes,
      deliveryExplainRoutes,
    ],
  },
  { isEnabled: ({ disable_store }) => !disable_store, plugins: [storeRoutes] },
  { isEnabled: () => true, plugins: [tokenRoutes, keyRoutes] },
  {
    isEnabled: ({ disable_meta }) => !disable_meta,
    plugins: [
      rootRoute,
      systemRoutes,
      overviewRoutes,
      historyRoutes,
      leaseRoutes,
      changeRoutes,
      newestLogRoutes,
      serverLogRoutes,
      docsGroup,
    ],
  },
];

/** Registers every route group that the configuration leaves enabled, then the routes of extensions. */
export function registerRoutes(server: FastifyInstance, deps: RouteDeps): void {
  const enabled = ROUTES.filter(({ isEnabled }) => isEnabled(deps.options));
  const plugins = [...enabled.flatMap((group) => group.plugins), ...(deps.extensions?.routes ?? [])];
  for (const plugin of plugins) plugin(server, deps);
}

function rootRoute(server: FastifyInstance, { engine, extensions, mount_prefix }: RouteDeps) {
  const page = extensions?.page;
  healthRoutes(server, { engine, path: '/', page: page && `${mount_prefix}${page}` });
}

function docsGroup(server: FastifyInstance, { mount_prefix }: RouteDeps) {
  server.register(docsRoutes, { mount_prefix });
}

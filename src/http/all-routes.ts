import type { FastifyInstance } from 'fastify';
import { a2aRoutes } from './a2a/routes.ts';
import { commandRoutes, eventStreamRoutes } from './event-streaming/routes.ts';
import { webSocketRoutes } from './event-streaming/websocket.ts';
import { mcpRoutes } from './mcp/routes.ts';
import { openAiRoutes } from './openai/routes.ts';
import type { HttpMetrics } from './plugins/metrics.ts';
import { assistantGraphRoutes } from './routes/assistant-graphs.ts';
import { assistantVersionRoutes } from './routes/assistant-versions.ts';
import { assistantRoutes } from './routes/assistants.ts';
import { cronRoutes, cronRunRoutes } from './routes/crons.ts';
import { docsRoutes } from './routes/docs.ts';
import { healthRoutes } from './routes/health.ts';
import { runStreamRoutes } from './routes/run-stream.ts';
import { runWaitRoutes } from './routes/run-wait.ts';
import { runExplainRoutes, runRoutes } from './routes/runs.ts';
import { statelessRunRoutes } from './routes/stateless-runs.ts';
import { storeRoutes } from './routes/store.ts';
import { systemRoutes } from './routes/system.ts';
import { threadStateRoutes } from './routes/thread-state.ts';
import { threadStreamRoutes } from './routes/thread-stream.ts';
import { threadMaintenanceRoutes, threadRoutes } from './routes/threads.ts';
import { tokenRoutes } from './routes/tokens.ts';
import { uiRoutes } from './routes/ui.ts';
import { webhookRoutes } from './routes/webhooks.ts';
import type { RunReplies } from './run-replies.ts';
import type { ServerDeps } from './server-deps.ts';

/** What routes are made of. */
export interface RouteDeps extends ServerDeps {
  readonly metrics: HttpMetrics;
  readonly replies: RunReplies;
  readonly mount_prefix: string;
}

/** Every route but those of groups that the configuration turns off. */
export function registerRoutes(server: FastifyInstance, deps: RouteDeps): void {
  const { services, options, mount_prefix } = deps;
  if (!options.disable_assistants) {
    assistantRoutes(server, services);
    assistantVersionRoutes(server, services);
    assistantGraphRoutes(server, services);
  }
  if (!options.disable_threads) registerThreadRoutes(server, deps);
  if (!options.disable_runs) registerRunRoutes(server, deps);
  registerProtocolRoutes(server, deps);
  if (!options.disable_store) storeRoutes(server, services);
  tokenRoutes(server, services);
  if (!options.disable_ui) uiRoutes(server, { ...services, mount_prefix });
  if (!options.disable_meta) {
    healthRoutes(server, { ...deps, path: '/' });
    systemRoutes(server, deps);
    server.register(docsRoutes, { mount_prefix });
  }
}

function registerThreadRoutes(server: FastifyInstance, { services, replies, logger }: RouteDeps): void {
  threadRoutes(server, services);
  threadMaintenanceRoutes(server, services);
  threadStateRoutes(server, services);
  threadStreamRoutes(server, { ...services, ...replies });
  eventStreamRoutes(server, { ...services, ...replies });
  commandRoutes(server, services);
  webSocketRoutes(server, { ...services, logger });
}

function registerRunRoutes(server: FastifyInstance, { services, replies }: RouteDeps): void {
  const withReplies = { ...services, replies };
  runRoutes(server, withReplies);
  runExplainRoutes(server, services);
  runWaitRoutes(server, withReplies);
  runStreamRoutes(server, withReplies);
  statelessRunRoutes(server, withReplies);
  cronRoutes(server, services);
  cronRunRoutes(server, services);
  webhookRoutes(server, withReplies);
}

/** Assistants as other protocols know them: tools, agents, models. */
function registerProtocolRoutes(server: FastifyInstance, deps: RouteDeps): void {
  const { services, options, auth, info, ids, replies, logger, mount_prefix } = deps;
  const { mcp, a2a } = services;
  const shared = { logger, mount_prefix };
  if (!options.disable_mcp) {
    mcpRoutes(server, {
      ...{ ...shared, ...options.mcp, mcp, ids },
      issuers: auth.issuers,
      version: info.version,
      register: deps.registerCustomTools,
    });
  }
  if (!options.disable_a2a) {
    const security = auth.authenticate ? auth : undefined;
    a2aRoutes(server, { ...shared, ...options.a2a, a2a, security, replies: replies.withShortKeepAlive });
  }
  if (options.openai.enabled) openAiRoutes(server, { ...services, replies, logger });
}

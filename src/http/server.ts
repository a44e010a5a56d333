import { type FastifyInstance, fastify } from 'fastify';
import type { Ids } from '../core/ids.ts';
import type { Lazy } from '../core/lazy.ts';
import type { Logger } from '../core/logger.ts';
import type { A2aService } from '../services/a2a/a2a.ts';
import type { AssistantService } from '../services/assistants.ts';
import type { ChatCompletionService } from '../services/chat-completions.ts';
import type { CronService } from '../services/crons.ts';
import type { EventStreamingService } from '../services/event-streaming/event-streaming.ts';
import type { IdempotencyService } from '../services/idempotency.ts';
import type { McpService } from '../services/mcp/mcp.ts';
import type { RunExplainService } from '../services/run-explain.ts';
import type { RunService } from '../services/runs.ts';
import type { StatelessRunService } from '../services/stateless-runs.ts';
import type { StoreService } from '../services/store.ts';
import type { ThreadStateService } from '../services/thread-state.ts';
import type { ThreadStreamService } from '../services/thread-stream.ts';
import type { ThreadService } from '../services/threads.ts';
import type { TokenService } from '../services/tokens.ts';
import type { UiService } from '../services/ui.ts';
import type { WebhookService } from '../services/webhooks.ts';
import type { CardRules } from './a2a/card-routes.ts';
import { a2aRoutes } from './a2a/routes.ts';
import { type ClientLimits, timeoutsOf } from './client-limits.ts';
import { commandRoutes } from './event-streaming/commands.ts';
import { eventStreamRoutes } from './event-streaming/events.ts';
import { asksForWebSocket, useWebSockets, webSocketRoutes } from './event-streaming/websocket.ts';
import { cutHalfRequestsOnClose } from './half-requests.ts';
import { type HeaderPatterns, headerPicker } from './header-patterns.ts';
import { passageOf } from './inside.ts';
import type { RegisterMcp } from './mcp/own-tools.ts';
import { mcpRoutes } from './mcp/routes.ts';
import { openAiRoutes } from './openai/routes.ts';
import { useOpenApi } from './openapi/document.ts';
import type { SecurityDocument } from './openapi/security.ts';
import { originRule } from './origin-rule.ts';
import type { OwnApp } from './own-app/kinds.ts';
import { type Admit, type AuthOptions, admission } from './plugins/auth.ts';
import { useContract } from './plugins/contract.ts';
import { type CorsOptions, useCors } from './plugins/cors.ts';
import { answerBadAddress, answerMalformed, MAX_NAME_LENGTH, useErrors } from './plugins/errors.ts';
import { useHostCheck } from './plugins/host-check.ts';
import { useIdempotency } from './plugins/idempotency.ts';
import { type EngineFigures, type HttpMetrics, httpMetrics } from './plugins/metrics.ts';
import { useOriginCheck } from './plugins/origin-check.ts';
import { useOwnApp } from './plugins/own-app.ts';
import { type RateLimits, useRateLimits } from './plugins/rate-limit.ts';
import { requestId, useRequestLog } from './plugins/request-log.ts';
import { useRouteTable } from './plugins/route-table.ts';
import { useSecurityHeaders } from './plugins/security-headers.ts';
import { useTextJson } from './plugins/text-json.ts';
import { assistantGraphRoutes } from './routes/assistant-graphs.ts';
import { assistantVersionRoutes } from './routes/assistant-versions.ts';
import { assistantRoutes } from './routes/assistants.ts';
import { cronRunRoutes } from './routes/cron-runs.ts';
import { cronRoutes } from './routes/crons.ts';
import { docsRoutes } from './routes/docs.ts';
import { type EngineHealth, healthRoutes } from './routes/health.ts';
import { runExplainRoutes } from './routes/run-explain.ts';
import { runStreamRoutes } from './routes/run-stream.ts';
import { runWaitRoutes } from './routes/run-wait.ts';
import { runRoutes } from './routes/runs.ts';
import { statelessRunRoutes } from './routes/stateless-runs.ts';
import { storeRoutes } from './routes/store.ts';
import { type ServerFacts, systemRoutes } from './routes/system.ts';
import { threadStateRoutes } from './routes/thread-state.ts';
import { threadStreamRoutes } from './routes/thread-stream.ts';
import { threadUpkeepRoutes } from './routes/thread-upkeep.ts';
import { threadRoutes } from './routes/threads.ts';
import { tokenRoutes } from './routes/tokens.ts';
import { uiRoutes } from './routes/ui.ts';
import { webhookRoutes } from './routes/webhooks.ts';
import { type RunReplies, runReplies } from './run-replies.ts';

export interface Services {
  readonly assistants: AssistantService;
  readonly a2a: Lazy<A2aService>;
  readonly mcp: McpService;
  readonly chatCompletions: ChatCompletionService;
  readonly threads: ThreadService;
  readonly tokens: TokenService;
  readonly threadState: ThreadStateService;
  readonly threadStream: ThreadStreamService;
  readonly eventStreaming: EventStreamingService;
  readonly runs: RunService;
  readonly explain: RunExplainService;
  readonly idempotency: IdempotencyService;
  readonly statelessRuns: StatelessRunService;
  readonly crons: CronService;
  readonly store: StoreService;
  readonly ui: UiService;
  readonly webhooks: WebhookService;
}

/** Values of the configuration's `server` and `http` blocks, under the same names. */
export interface HttpOptions extends ClientLimits {
  /** Names by which a server that nobody needs a key for may be called; undefined: any. */
  readonly served_hosts?: readonly string[] | undefined;
  /** Proxies that are believed, as addresses and networks. */
  readonly trust_proxy: readonly string[];
  /** Bytes. */
  readonly body_limit: number;
  readonly rate_limit: RateLimits;
  /** Such as `/agents`; every route but `/ok` moves under it. */
  readonly mount_prefix?: string | undefined;
  readonly cors: CorsOptions;
  readonly configurable_headers: HeaderPatterns;
  readonly logging_headers: HeaderPatterns;
  readonly middleware_order: 'auth_first' | 'middleware_first';
  readonly enable_custom_route_auth: boolean;
  readonly disable_assistants: boolean;
  readonly disable_threads: boolean;
  readonly disable_runs: boolean;
  readonly disable_store: boolean;
  readonly disable_meta: boolean;
  readonly disable_ui: boolean;
  readonly disable_mcp: boolean;
  readonly disable_a2a: boolean;
  readonly a2a: CardRules & { readonly base_url?: string | undefined };
  readonly mcp: { readonly cancel_on_disconnect: boolean; readonly base_url?: string | undefined };
  /** The chat completions API beside ours. */
  readonly openai: { readonly enabled: boolean };
}

export interface ServerParts {
  readonly services: Services;
  readonly engine: EngineHealth & EngineFigures;
  readonly options: HttpOptions;
  readonly auth: AuthOptions & SecurityDocument;
  readonly info: ServerFacts;
  readonly logger: Logger;
  readonly ids: Ids;
  /** Adds the project's own to what MCP clients find. */
  readonly registerMcp?: RegisterMcp | undefined;
  /** Answers before our routes do. */
  readonly ownApp?: OwnApp | undefined;
}

/** The HTTP server, ready to listen. It takes plain values and services, and knows neither configuration nor storage. */
export async function createServer(parts: ServerParts): Promise<FastifyInstance> {
  const { services, engine, options, auth, info, logger, ids } = parts;
  const { body_limit, trust_proxy, mount_prefix = '' } = options;
  const timeouts = timeoutsOf(options);
  const server = fastify({
    bodyLimit: body_limit,
    trustProxy: trust_proxy.length > 0 && [...trust_proxy],
    genReqId: (raw) => passageOf(raw)?.from?.id ?? requestId(raw.headers['x-request-id'], ids.uuid4),
    // The official server's, so that clients reuse connections as they do there (CONTRACT §1 "Graceful").
    keepAliveTimeout: 75_000,
    requestTimeout: timeouts.requestTimeout,
    http: {
      ...timeouts,
      maxHeaderSize: options.max_header_bytes,
      shouldUpgradeCallback: asksForWebSocket,
    },
    routerOptions: { maxParamLength: MAX_NAME_LENGTH },
    clientErrorHandler: answerMalformed,
    frameworkErrors: answerBadAddress,
  });
  if (options.max_connections !== undefined) server.server.maxConnections = options.max_connections;
  cutHalfRequestsOnClose(server);
  const metrics = httpMetrics(engine);
  const routes = useRouteTable(server);
  useContract(server);
  useTextJson(server);
  useErrors(server, { logger, body_limit, routes });
  useRequestLog(server, { logger, metrics, headersOf: headerPicker(options.logging_headers) });
  await useSecurityHeaders(server);
  if (options.served_hosts) useHostCheck(server, options.served_hosts);
  const mayCall = originRule(options.cors, options.served_hosts);
  await useCors(server, options.cors, mayCall);
  // Before what may refuse a request: a refused WebSocket has an answer of its own.
  await useWebSockets(server, body_limit);
  if (mayCall) useOriginCheck(server, mayCall, logger);
  useDoor(server, parts, await useRateLimits(server, options.rate_limit));
  useIdempotency(server, services.idempotency);
  const replies = runReplies(server, { runs: services.runs, logger });
  const { version, graph_ids } = info;
  await useOpenApi(server, { version, graph_ids, mount_prefix, security: auth });

  const routed = { ...parts, metrics, replies, mount_prefix };
  healthRoutes(server, { engine, path: '/ok' });
  await server.register(
    (mounted, _options, done) => {
      if (mount_prefix) healthRoutes(mounted, { engine, path: '/ok' });
      addRoutes(mounted, routed);
      done();
    },
    { prefix: mount_prefix },
  );
  await server.ready();
  return server;
}

/** Authentication and the project's own app, in the order of the configuration. */
function useDoor(
  server: FastifyInstance,
  { auth, options, ownApp: app }: ServerParts,
  countCaller: Admit | undefined,
): void {
  const { mount_prefix = '', middleware_order, enable_custom_route_auth } = options;
  const find = admission(server, auth, headerPicker(withTrace(options.configurable_headers)));
  const admit: Admit = async (request) => {
    if (await find(request)) await countCaller?.(request);
  };
  const own = app && { ...options, app, mount_prefix, admit };
  if (own && middleware_order === 'middleware_first') useOwnApp(server, own);
  server.addHook('onRequest', async (request) => {
    // The app's own routes; what it lets through comes here again.
    const isForApp = own && request.is404 && !passageOf(request.raw)?.from;
    if (!isForApp || enable_custom_route_auth) await admit(request);
  });
  if (own && middleware_order === 'auth_first') useOwnApp(server, own);
}

/** A trace goes on in the run, as with the official server (CONTRACT §3). */
function withTrace({ includes, excludes }: HeaderPatterns): HeaderPatterns {
  return { includes: [...includes, 'langsmith-trace'], excludes };
}

interface Routed extends ServerParts {
  readonly metrics: HttpMetrics;
  readonly replies: RunReplies;
  readonly mount_prefix: string;
}

function addRoutes(server: FastifyInstance, routed: Routed): void {
  const { services, options, engine, info, metrics, replies, mount_prefix } = routed;
  const withReplies = { ...services, replies };
  if (!options.disable_assistants) {
    assistantRoutes(server, services);
    assistantVersionRoutes(server, services);
    assistantGraphRoutes(server, services);
  }
  if (!options.disable_threads) {
    threadRoutes(server, services);
    threadUpkeepRoutes(server, services);
    threadStateRoutes(server, services);
    threadStreamRoutes(server, { ...services, ...replies });
    eventStreamRoutes(server, { ...services, ...replies });
    commandRoutes(server, services);
    webSocketRoutes(server, { ...services, logger: routed.logger });
  }
  if (!options.disable_runs) {
    runRoutes(server, withReplies);
    runExplainRoutes(server, services);
    runWaitRoutes(server, withReplies);
    runStreamRoutes(server, withReplies);
    statelessRunRoutes(server, withReplies);
    cronRoutes(server, services);
    cronRunRoutes(server, services);
    webhookRoutes(server, withReplies);
  }
  if (!options.disable_mcp)
    mcpRoutes(server, {
      ...routed,
      ...options,
      ...options.mcp,
      ...info,
      ...routed.auth,
      mcp: services.mcp,
      mount_prefix,
      register: routed.registerMcp,
    });
  if (!options.disable_a2a) {
    const { auth, logger } = routed;
    const security = auth.authenticate ? auth : undefined;
    const { a2a } = services;
    a2aRoutes(server, {
      ...options.a2a,
      ...{ a2a, logger, mount_prefix, security },
      replies: replies.forImpatient,
    });
  }
  if (options.openai.enabled) openAiRoutes(server, { ...withReplies, logger: routed.logger });
  if (!options.disable_store) storeRoutes(server, services);
  tokenRoutes(server, services);
  if (!options.disable_ui) uiRoutes(server, { ...services, mount_prefix });
  if (!options.disable_meta) {
    healthRoutes(server, { engine, path: '/' });
    systemRoutes(server, { info, engine, metrics });
    server.register(docsRoutes, { mount_prefix });
  }
}

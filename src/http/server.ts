import { type FastifyInstance, type FastifyRequest, fastify } from 'fastify';
import { requireScope } from '../auth/scopes.ts';
import type { Logger } from '../core/logger.ts';
import { MAX_NAME_LENGTH } from '../schemas/bounds.ts';
import { registerRoutes } from './all-routes.ts';
import { canonicalUrl } from './canonical-url.ts';
import { acceptBeforeClosing, closeIncompleteRequests } from './connections.ts';
import { dispatchingServer, dispatchUpgrades } from './dispatch.ts';
import { isWebSocketUpgrade, useWebSockets } from './event-streaming/websocket.ts';
import { type HeaderPatterns, headerFilter } from './header-patterns.ts';
import { internalRequestOf } from './in-process.ts';
import { httpMetrics } from './metrics/metrics.ts';
import { prefixOf, withoutPrefix } from './mount-prefix.ts';
import { useOpenApi } from './openapi/document.ts';
import { handleInOrder } from './pipelining.ts';
import { type AuthHook, authenticateHook } from './plugins/auth.ts';
import { corsOriginCheck, useCors, useOriginCheck } from './plugins/cors.ts';
import { useCustomApp } from './plugins/custom-app.ts';
import { handleClientError, invalidUrlHandler, StreamErrorLog, useErrors } from './plugins/errors.ts';
import { useFieldHints } from './plugins/field-hints.ts';
import { useIdempotency } from './plugins/idempotency.ts';
import { useRateLimits } from './plugins/rate-limit.ts';
import { requestId, useRequestLog } from './plugins/request-log.ts';
import { useRouteTable } from './plugins/route-table.ts';
import { useHostCheck, useSecurityHeaders, useStrictHttp } from './plugins/security.ts';
import { useJsonBodyParser, useSlicedLists, ZOD_COMPILERS } from './plugins/validation.ts';
import { useWorkerRole } from './plugins/worker-role.ts';
import { useRequestBodies } from './request-bodies.ts';
import { healthRoutes } from './routes/health.ts';
import { runReplies } from './run-replies.ts';
import { useSendBudget } from './send-budget.ts';
import { type HttpOptions, nodeTimeouts, type ServerDeps } from './server-deps.ts';
import { closeStalled } from './stalled-clients.ts';

/** Creates the HTTP server, ready to listen. Takes plain values and services, not configuration or storage. */
export async function createServer(deps: ServerDeps): Promise<FastifyInstance> {
  const { services, engine, options, auth, info, logger, ids } = deps;
  const { body_limit, trust_proxy, mount_prefix = '' } = options;
  const prefixes = prefixesOf(options);
  const timeouts = nodeTimeouts(options);
  const server = fastify({
    trustProxy: trust_proxy.length > 0 && [...trust_proxy],
    rewriteUrl: ({ url = '' }) => canonicalUrl(url),
    genReqId: (raw) => internalRequestOf(raw)?.from?.id ?? requestId(raw.headers['x-request-id'], ids.uuid4),
    // Same as the official server, so that clients reuse connections alike (contract §1 "Graceful").
    keepAliveTimeout: 75_000,
    requestTimeout: timeouts.requestTimeout,
    // Served until the listener closes: proxies pass a 503 on, and official clients do not repeat a POST that got one.
    return503OnClosing: false,
    ...(deps.dispatch && { serverFactory: dispatchingServer(deps.dispatch) }),
    http: { ...timeouts, maxHeaderSize: options.max_header_bytes, shouldUpgradeCallback: isWebSocketUpgrade },
    routerOptions: { maxParamLength: MAX_NAME_LENGTH },
    clientErrorHandler: handleClientError,
    frameworkErrors: invalidUrlHandler((url) => deps.extensions?.pageOfInvalid?.(url, prefixes)),
    schemaController: { compilersFactory: ZOD_COMPILERS },
    logController: new StreamErrorLog(logger),
  });
  useConnectionLimits(server, options, logger);
  const metrics = httpMetrics(engine, deps.meters, deps);
  // Otherwise no route could read it.
  if (options.role !== 'worker' && !options.disable_meta) metrics.history.start();
  server.addHook('onClose', async () => metrics.stop());
  const routes = useRouteTable(server);
  useRequestBodies(server, options);
  useJsonBodyParser(server);
  useSlicedLists(server);
  useErrors(server, { logger, routes, disabledRoute: (path) => offAnswerTo(path, deps) });
  useStrictHttp(server);
  if (deps.gives_hints) useFieldHints(server, logger);
  useRequestLog(server, { logger, metrics, pickHeaders: headerFilter(options.logging_headers) });
  await useSecurityHeaders(server);
  if (options.role === 'worker') useWorkerRole(server, mount_prefix);
  if (options.served_hosts) useHostCheck(server, options.served_hosts);
  const isAllowedOrigin = corsOriginCheck(options.cors, options.served_hosts);
  await useCors(server, options.cors, isAllowedOrigin, logger);
  // Before any hook that may refuse a request: a refused WebSocket needs its own answer.
  await dispatchUpgrades(server, deps.dispatch, () => useWebSockets(server, body_limit));
  if (isAllowedOrigin) useOriginCheck(server, isAllowedOrigin, logger);
  const rates = await useRateLimits(server, options.rate_limit, auth);
  useAuthHooks(server, deps, rates?.countCaller);
  useIdempotency(server, services.idempotency);
  useSendBudget(server, options.send_budget);
  const replies = runReplies(server, { runs: services.runs, auth, logger });
  useOpenApi(server, {
    version: info.version,
    graph_ids: info.graph_ids,
    mount_prefix,
    security: auth,
    custom_routes: deps.customApp?.routes ?? [],
  });

  healthRoutes(server, { engine, path: '/ok' });
  for (const prefix of prefixes) {
    await server.register(
      (mounted, _options, done) => {
        if (prefix) healthRoutes(mounted, { engine, path: '/ok' });
        registerRoutes(mounted, { ...deps, ...services, metrics, replies, rates, mount_prefix: prefix });
        done();
      },
      { prefix },
    );
  }
  await server.ready();
  return server;
}

/** Listeners of one event of a response. Node warns of a leak above ten, and MCP has eleven that wait for the end. */
const MAX_LISTENERS = 20;

/** Bounds the resources that clients can take up with their connections alone, also while the server closes. */
function useConnectionLimits(
  server: FastifyInstance,
  { max_connections }: HttpOptions,
  logger: Logger,
): void {
  if (max_connections !== undefined) server.server.maxConnections = max_connections;
  server.server.prependListener('request', (_request, response) => response.setMaxListeners(MAX_LISTENERS));
  acceptBeforeClosing(server.server);
  closeIncompleteRequests(server);
  // After it: this calls listeners of requests only for those whose turn it is.
  handleInOrder(server.server);
  const stalled = closeStalled(server.server, { logger });
  server.addHook('onClose', async () => stalled[Symbol.dispose]());
}

function prefixesOf({ mount_prefix = '', also_at }: HttpOptions): string[] {
  return also_at === undefined ? [mount_prefix] : [mount_prefix, also_at];
}

/** The answer of an extension that is off, for one of its paths. */
function offAnswerTo(path: string, { options, extensions }: ServerDeps): object | undefined {
  const prefix = prefixOf(prefixesOf(options), path);
  return prefix === undefined ? undefined : extensions?.offAnswer(withoutPrefix(prefix, path));
}

/** Methods of custom routes for which a key that only reads is enough. */
const READING = new Set(['GET', 'HEAD']);

/** Registers authentication and the custom app in the configured order. */
function useAuthHooks(
  server: FastifyInstance,
  { auth, options, customApp: app }: ServerDeps,
  countCaller: AuthHook | undefined,
): void {
  const { middleware_order, enable_custom_route_auth } = options;
  const identify = authenticateHook(server, auth, headerFilter(withTrace(options.configurable_headers)));
  // A forwarded request passes here again.
  const isForApp = (request: FastifyRequest) =>
    app !== undefined && request.is404 && !internalRequestOf(request.raw)?.from;
  const authenticate: AuthHook = async (request) => {
    if (!(await identify(request))) return;
    if (enable_custom_route_auth && isForApp(request))
      requireScope(request.actor.scope, READING.has(request.method) ? 'read' : 'run');
    await countCaller?.(request);
  };
  const customAppOptions = app && { ...options, app, prefixes: prefixesOf(options), authenticate };
  if (customAppOptions && middleware_order === 'middleware_first') useCustomApp(server, customAppOptions);
  server.addHook('onRequest', async (request) => {
    if (!isForApp(request) || enable_custom_route_auth) await authenticate(request);
  });
  if (customAppOptions && middleware_order === 'auth_first') useCustomApp(server, customAppOptions);
}

/** Propagates LangSmith's trace header to the run, as the official server does (contract §3). */
function withTrace({ includes, excludes }: HeaderPatterns): HeaderPatterns {
  return { includes: [...includes, 'langsmith-trace'], excludes };
}

import { type FastifyInstance, fastify } from 'fastify';
import { addRoutes } from './all-routes.ts';
import { timeoutsOf } from './client-limits.ts';
import { asksForWebSocket, useWebSockets } from './event-streaming/websocket.ts';
import { cutHalfRequestsOnClose } from './half-requests.ts';
import { type HeaderPatterns, headerPicker } from './header-patterns.ts';
import { passageOf } from './inside.ts';
import { openAiIsOff } from './openai/errors.ts';
import { useOpenApi } from './openapi/document.ts';
import { originRule } from './origin-rule.ts';
import { type Admit, admission } from './plugins/auth.ts';
import { useContract } from './plugins/contract.ts';
import { useCors } from './plugins/cors.ts';
import { answerBadAddress, answerMalformed, MAX_NAME_LENGTH, useErrors } from './plugins/errors.ts';
import { useFieldHints } from './plugins/field-hints.ts';
import { useHostCheck } from './plugins/host-check.ts';
import { useIdempotency } from './plugins/idempotency.ts';
import { httpMetrics } from './plugins/metrics.ts';
import { useOriginCheck } from './plugins/origin-check.ts';
import { useOwnApp } from './plugins/own-app.ts';
import { useRateLimits } from './plugins/rate-limit.ts';
import { requestId, useRequestLog } from './plugins/request-log.ts';
import { useRouteTable } from './plugins/route-table.ts';
import { useSecurityHeaders } from './plugins/security-headers.ts';
import { useTextJson } from './plugins/text-json.ts';
import { useWholeRequests } from './plugins/whole-requests.ts';
import { useBodies } from './request-bodies.ts';
import { healthRoutes } from './routes/health.ts';
import { runReplies } from './run-replies.ts';
import type { HttpOptions, ServerParts } from './server-parts.ts';

/** The HTTP server, ready to listen. It takes plain values and services, and knows neither configuration nor storage. */
export async function createServer(parts: ServerParts): Promise<FastifyInstance> {
  const { services, engine, options, auth, info, logger, ids } = parts;
  const { body_limit, trust_proxy, mount_prefix = '' } = options;
  const timeouts = timeoutsOf(options);
  const server = fastify({
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
  server.addHook('onClose', async () => metrics.stop());
  const routes = useRouteTable(server);
  useBodies(server, options);
  useContract(server);
  useTextJson(server);
  useErrors(server, { logger, routes, off: (path) => offBelow(path, options) });
  useWholeRequests(server);
  if (parts.gives_hints) useFieldHints(server, logger);
  useRequestLog(server, { logger, metrics, headersOf: headerPicker(options.logging_headers) });
  await useSecurityHeaders(server);
  if (options.served_hosts) useHostCheck(server, options.served_hosts);
  const mayCall = originRule(options.cors, options.served_hosts);
  await useCors(server, options.cors, mayCall, logger);
  // Before what may refuse a request: a refused WebSocket has an answer of its own.
  await useWebSockets(server, body_limit);
  if (mayCall) useOriginCheck(server, mayCall, logger);
  useDoor(server, parts, await useRateLimits(server, options.rate_limit));
  useIdempotency(server, services.idempotency);
  const replies = runReplies(server, { runs: services.runs, logger });
  const { version, graph_ids } = info;
  const own_routes = parts.ownApp?.routes ?? [];
  await useOpenApi(server, { version, graph_ids, mount_prefix, security: auth, own_routes });

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

function offBelow(path: string, { mount_prefix = '', openai }: HttpOptions) {
  if (openai.enabled || !path.startsWith(mount_prefix)) return undefined;
  return openAiIsOff(path.slice(mount_prefix.length));
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

import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import {
  type HostView,
  LeaseQuery,
  LeaseView,
  Metrics,
  MetricsQuery,
  ServerInfo,
} from '../../schemas/system.ts';
import { SystemHistory } from '../../schemas/system-history.ts';
import { SystemOverview } from '../../schemas/system-overview.ts';
import type { ChangeService } from '../../services/changes.ts';
import type { SystemService } from '../../services/system.ts';
import type { EngineStats, HttpMetrics } from '../metrics/metrics.ts';
import { EVENT_STREAM } from '../openapi/run-examples.ts';
import { TAGS } from '../openapi/tags.ts';
import type { ZodTypeProvider } from '../plugins/validation.ts';
import type { RunReplies } from '../run-replies.ts';

/** Version of the official API that is implemented: clients and Studio compare it (contract §2.9). */
const API_VERSION = '0.16.7';

/** Static properties of the server, for `/info`. */
export interface ServerProperties {
  readonly version: string;
  /** Version of the project's LangGraph.js; null without one. */
  readonly langgraph_version: string | null;
  readonly graph_ids: readonly string[];
  /** Whether this process fires crons. */
  readonly crons: boolean;
}

interface SystemDeps {
  readonly info: ServerProperties;
  readonly engine: EngineStats;
  readonly metrics: HttpMetrics;
}

const tags = [TAGS.system];

export function systemRoutes(server: FastifyInstance, { info, engine, metrics }: SystemDeps) {
  const app = server.withTypeProvider<ZodTypeProvider>();

  app.get(
    '/info',
    {
      schema: {
        operationId: 'get_info',
        summary: 'Server information',
        description: 'Versions and features of the server.',
        tags,
        response: { 200: ServerInfo },
      },
      config: { scope: 'read', open: 'among users' },
    },
    () => serverInfo(info, engine.hosts()),
  );

  app.get(
    '/metrics',
    {
      schema: {
        operationId: 'get_metrics',
        summary: 'Metrics',
        description: 'Requests, queue and workers, for Prometheus or as JSON.',
        tags,
        querystring: MetricsQuery,
        response: {
          200: { content: { 'text/plain': { schema: z.string() }, 'application/json': { schema: Metrics } } },
        },
      },
      config: { scope: 'read', open: 'among users' },
    },
    async ({ query }, reply) => {
      if (query.format !== 'json') {
        reply.type('text/plain; version=1.0.0; charset=utf-8');
        return metrics.text();
      }
      const http_requests_total = await metrics.requestCounts();
      return { queue: await engine.queue(), api: { http_requests_total }, workers: engine.workers() };
    },
  );
}

export function overviewRoutes(server: FastifyInstance, { system }: { system: SystemService }) {
  server.withTypeProvider<ZodTypeProvider>().get(
    '/system/overview',
    {
      config: { scope: 'admin' },
      schema: {
        operationId: 'get_system_overview',
        summary: 'Overview',
        description:
          'Runs, threads, crons and webhooks of all users by status, the processes on the database, its size, and versions.',
        tags,
        response: { 200: SystemOverview },
        failures: {
          403: 'Overviews of the server are available only to unrestricted callers, such as a key with the scope "admin".',
        },
      },
    },
    ({ actor }) => system.overview(actor),
  );
}

export function historyRoutes(
  server: FastifyInstance,
  { system, metrics }: { system: SystemService; metrics: Pick<HttpMetrics, 'history'> },
) {
  server.withTypeProvider<ZodTypeProvider>().get(
    '/system/history',
    {
      config: { scope: 'admin' },
      schema: {
        operationId: 'get_system_history',
        summary: 'Process history',
        description:
          'Measurements of the process that answers, every 10 seconds over the last hour, and the current ones: runs, requests, webhooks, event loop, memory and connections.',
        tags,
        response: { 200: SystemHistory },
        failures: {
          403: 'Measurements of the server are available only to unrestricted callers, such as a key with the scope "admin".',
        },
      },
    },
    ({ actor }) => system.history(actor, metrics.history.read),
  );
}

export function leaseRoutes(server: FastifyInstance, { system }: { system: SystemService }) {
  server.withTypeProvider<ZodTypeProvider>().get(
    '/system/leases',
    {
      config: { scope: 'admin' },
      schema: {
        operationId: 'list_leases',
        summary: 'Leases',
        description:
          'Which process executes which run, and when its lease expires unless renewed; oldest first.',
        tags,
        querystring: LeaseQuery,
        response: { 200: z.array(LeaseView) },
        failures: {
          403: 'Leases are available only to unrestricted callers, such as a key with the scope "admin".',
        },
      },
    },
    ({ actor, query }) => system.leases(actor, query.limit),
  );
}

export function changeRoutes(
  server: FastifyInstance,
  { changes, replies }: { changes: ChangeService; replies: Pick<RunReplies, 'sendEvents'> },
) {
  server.withTypeProvider<ZodTypeProvider>().get(
    '/system/changes',
    {
      config: { scope: 'read' },
      schema: {
        operationId: 'watch_changes',
        summary: 'Watch changes',
        description:
          'Streams the ids of changed runs, threads, assistants, crons, deliveries, store items and keys, at most 4 events a second. The stream never ends.',
        tags,
        response: { 200: EVENT_STREAM },
        failures: { 403: 'Forbidden' },
      },
      exposeHeadRoute: false,
    },
    async ({ actor }, reply) => {
      const frames = (signal: AbortSignal) => changes.follow(actor, signal);
      await replies.sendEvents(reply, { headers: {}, resumable: false, frames });
    },
  );
}

function serverInfo(
  { version, langgraph_version, crons }: ServerProperties,
  hosts: readonly HostView[],
): ServerInfo {
  const ready = hosts.filter((host) => host.ready).length;
  return {
    version: API_VERSION,
    langgraph_js_version: langgraph_version,
    context: 'js',
    flags: {
      assistants: true,
      crons,
      langsmith: false,
      langsmith_tracing_replicas: false,
      langsmith_tracing_session_on_runs: false,
      stream_namespaces: true,
      strict_resume: true,
    },
    host: {
      kind: 'self-hosted',
      project_id: null,
      host_revision_id: null,
      revision_id: null,
      tenant_id: null,
    },
    metadata: {},
    server: {
      name: 'agent-server',
      version,
      ...(hosts.length > 0 && { hosts: { count: hosts.length, ready } }),
    },
  };
}

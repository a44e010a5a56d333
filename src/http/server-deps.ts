import type { FastifyInstance } from 'fastify';
import type { Clock } from '../core/clock.ts';
import type { Ids } from '../core/ids.ts';
import type { Logger } from '../core/logger.ts';
import type { ProcessIdentity } from '../schemas/system-history.ts';
import type { Services } from '../services/all-services.ts';
import type { Dispatch } from './dispatch.ts';
import type { HeaderPatterns } from './header-patterns.ts';
import type { Meters } from './metrics/meters.ts';
import type { EngineStats, HttpMetrics, Measure } from './metrics/metrics.ts';
import type { SecurityDocument } from './openapi/security.ts';
import type { AuthOptions } from './plugins/auth.ts';
import type { CorsOptions } from './plugins/cors.ts';
import type { CustomApp } from './plugins/custom-app.ts';
import type { RateCounts, RateLimits } from './plugins/rate-limit.ts';
import type { BodyLimits } from './request-bodies.ts';
import type { EngineHealth } from './routes/health.ts';
import type { ServerProperties } from './routes/system.ts';
import type { RunReplies } from './run-replies.ts';

/** The configuration's `server` and `http` blocks, under the same names. */
export interface HttpOptions extends ClientLimits, BodyLimits {
  /** Accepted host names of a server without authentication; `undefined` accepts any. */
  readonly served_hosts?: readonly string[] | undefined;
  /** A `worker` answers health and metrics only. */
  readonly role: 'all' | 'api' | 'worker';
  /** Trusted proxies, as addresses and networks. */
  readonly trust_proxy: readonly string[];
  readonly rate_limit: RateLimits;
  /** Such as `/agents`: prefix of every route but `/ok`. */
  readonly mount_prefix?: string | undefined;
  /** A second prefix for the same routes; may be empty. */
  readonly also_at?: string | undefined;
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
}

export interface ExtensionRoutes {
  readonly routes: readonly RoutePlugin[];
  /** Add metrics to those of the core. */
  readonly metrics?: readonly Measure[];
  /** Body of the 404 for a path of an extension that is off; `undefined` for any other path. */
  offAnswer(path: string): object | undefined;
  /** Where the pages for people are, such as `/studio`, below each prefix. */
  readonly page?: string | undefined;
  /**
   * Page to redirect to for a URL that cannot be decoded; `undefined` if it is below no page. `prefixes` are those under which
   * the server has its routes.
   */
  pageOfInvalid?(url: string, prefixes: readonly string[]): string | undefined;
}

export interface ServerDeps {
  readonly services: Services;
  readonly engine: EngineHealth & EngineStats;
  readonly meters: Meters;
  readonly options: HttpOptions;
  readonly auth: AuthOptions & SecurityDocument;
  readonly info: ServerProperties;
  readonly process: ProcessIdentity;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly ids: Ids;
  /** Takes requests for other servers in this process. */
  readonly dispatch?: Dispatch | undefined;
  /** Whether to log misspelt fields. */
  readonly gives_hints?: boolean;
  /** What extensions add; nothing if left out. */
  readonly extensions?: ExtensionRoutes | undefined;
  /** Custom app; takes precedence over the server's routes. */
  readonly customApp?: CustomApp | undefined;
}

/** Dependencies of the route plugins: services by name, and what replies need. */
export interface RouteDeps extends Services, Omit<ServerDeps, 'services'> {
  readonly metrics: HttpMetrics;
  readonly replies: RunReplies;
  /** Undefined without rate limits. */
  readonly rates: RateCounts | undefined;
  readonly mount_prefix: string;
}

/** Adds routes to the server; destructures the dependencies that it uses. */
export type RoutePlugin = (server: FastifyInstance, deps: RouteDeps) => void;

/** Limits per client: keys of the configuration's `server` block, and a time. */
export interface ClientLimits {
  /** Concurrent connections; `undefined` means as many as file descriptors allow. */
  readonly max_connections?: number | undefined;
  /** Responses in memory that clients have not read yet, bytes. */
  readonly send_budget: number;
  /** Request line and headers, bytes. */
  readonly max_header_bytes: number;
  /** Time to receive a complete request, including its body, ms; the headers have a tenth of it. Tests shorten it. */
  readonly request_timeout_ms?: number;
}

/** Interval of Node's check for slow clients, ms; its default is 30 s. */
const MAX_CHECK_INTERVAL_MS = 5_000;

/** Node's default, ms. */
const REQUEST_TIMEOUT_MS = 300_000;

/** Time limits as Node's server options, in whole ms. */
export function nodeTimeouts({ request_timeout_ms: requestTimeout = REQUEST_TIMEOUT_MS }: ClientLimits) {
  const headersTimeout = Math.ceil(requestTimeout / 10);
  return {
    requestTimeout,
    headersTimeout,
    connectionsCheckingInterval: Math.min(MAX_CHECK_INTERVAL_MS, headersTimeout),
  };
}

import type { Ids } from '../core/ids.ts';
import type { Logger } from '../core/logger.ts';
import type { Services } from '../services/all-services.ts';
import type { CardOptions } from './a2a/card.ts';
import type { CustomApp } from './custom-app/adapters.ts';
import type { HeaderPatterns } from './header-patterns.ts';
import type { RegisterCustomTools } from './mcp/custom-tools.ts';
import type { SecurityDocument } from './openapi/security.ts';
import type { AuthOptions } from './plugins/auth.ts';
import type { CorsOptions } from './plugins/cors.ts';
import type { EngineStats } from './plugins/metrics.ts';
import type { RateLimits } from './plugins/rate-limit.ts';
import type { BodyLimits } from './request-bodies.ts';
import type { EngineHealth } from './routes/health.ts';
import type { ServerFacts } from './routes/system.ts';

interface ProtocolOptions {
  readonly base_url?: string | undefined;
  /** Largest message, bytes. */
  readonly body_limit: number;
}

/** Values of the configuration's `server` and `http` blocks, under the same names. */
export interface HttpOptions extends ClientLimits, BodyLimits {
  /** Names by which a server that nobody needs a key for may be called; undefined: any. */
  readonly served_hosts?: readonly string[] | undefined;
  /** Proxies that are believed, as addresses and networks. */
  readonly trust_proxy: readonly string[];
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
  readonly a2a: CardOptions & ProtocolOptions;
  readonly mcp: ProtocolOptions & { readonly cancel_on_disconnect: boolean };
  /** The chat completions API beside ours. */
  readonly openai: { readonly enabled: boolean };
}

export interface ServerDeps {
  readonly services: Services;
  readonly engine: EngineHealth & EngineStats;
  readonly options: HttpOptions;
  readonly auth: AuthOptions & SecurityDocument;
  readonly info: ServerFacts;
  readonly logger: Logger;
  readonly ids: Ids;
  /** Adds the project's own to what MCP clients find. */
  readonly registerCustomTools?: RegisterCustomTools | undefined;
  /** Misspelt fields are told in the log. */
  readonly gives_hints?: boolean;
  /** Answers before our routes do. */
  readonly customApp?: CustomApp | undefined;
}

/** What one client may take of the server: keys of the configuration's `server` block. */
export interface ClientLimits {
  /** Connections at a time; undefined: as many as there are file descriptors. */
  readonly max_connections?: number | undefined;
  /** Bytes of a request's line and headers. */
  readonly max_header_bytes: number;
  /** How long a client may take to send a request, its body included. */
  readonly request_timeout_seconds: number;
  /** How long until its headers are there. */
  readonly headers_timeout_seconds: number;
}

/** Node looks for slow clients this often, ms. Its own is 30 s. */
const MAX_CHECK_INTERVAL_MS = 5_000;

/** The limits of time in the words of Node: whole ms, all that it takes. */
export function nodeTimeouts(limits: ClientLimits) {
  const requestTimeout = Math.round(limits.request_timeout_seconds * 1000);
  const headersTimeout = Math.min(Math.round(limits.headers_timeout_seconds * 1000), requestTimeout);
  return {
    requestTimeout,
    headersTimeout,
    connectionsCheckingInterval: Math.min(MAX_CHECK_INTERVAL_MS, headersTimeout),
  };
}

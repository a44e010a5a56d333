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
import type { ClientLimits } from './client-limits.ts';
import type { HeaderPatterns } from './header-patterns.ts';
import type { RegisterMcp } from './mcp/own-tools.ts';
import type { SecurityDocument } from './openapi/security.ts';
import type { OwnApp } from './own-app/kinds.ts';
import type { AuthOptions } from './plugins/auth.ts';
import type { CorsOptions } from './plugins/cors.ts';
import type { EngineFigures } from './plugins/metrics.ts';
import type { RateLimits } from './plugins/rate-limit.ts';
import type { BodyLimits } from './request-bodies.ts';
import type { EngineHealth } from './routes/health.ts';
import type { ServerFacts } from './routes/system.ts';

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
  readonly a2a: CardRules & ProtocolOptions;
  readonly mcp: ProtocolOptions & { readonly cancel_on_disconnect: boolean };
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
  /** Misspelt fields are told in the log. */
  readonly gives_hints?: boolean;
  /** Answers before our routes do. */
  readonly ownApp?: OwnApp | undefined;
}

import { systemClock } from '../core/clock.ts';
import { systemIds } from '../core/ids.ts';
import { silentLogger } from '../core/logger.ts';
import { createServer, type ServerParts } from './server.ts';

/** The OpenAPI document of a server with every route. Nothing is served, so there is nothing behind the routes. */
export async function openApiDocument(version: string): Promise<object> {
  await using server = await createServer({
    services: {} as ServerParts['services'],
    engine: {} as ServerParts['engine'],
    options: {
      trust_proxy: [],
      body_limit: 1,
      max_header_bytes: 16_384,
      request_timeout_seconds: 300,
      rate_limit: {},
      cors: {
        allow_origins: [],
        allow_methods: [],
        allow_headers: [],
        allow_credentials: false,
        expose_headers: [],
        max_age: 0,
      },
      configurable_headers: { includes: [], excludes: [] },
      logging_headers: { includes: [], excludes: [] },
      middleware_order: 'middleware_first',
      enable_custom_route_auth: false,
      disable_assistants: false,
      disable_threads: false,
      disable_runs: false,
      disable_store: false,
      disable_meta: false,
      disable_ui: false,
      disable_mcp: false,
      disable_a2a: false,
      a2a: { card_default: 'hybrid' },
      mcp: { cancel_on_disconnect: false },
      openai: { enabled: false },
    },
    auth: { authenticate: undefined, has_users: false },
    info: { version, langgraph_version: null, graph_ids: [], crons: true },
    logger: silentLogger,
    ids: systemIds(systemClock),
  });
  return server.swagger();
}

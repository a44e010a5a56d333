import { boolean, group, integer, oneOf, stringList, text } from '../value-types.ts';

const Cors = group({
  allow_origins: stringList()
    .optional()
    .describe(
      'Origins whose pages may call the server; `*` is all. Unset: all, but without keys only those of this machine and of LangSmith Studio.',
    ),
  allow_origin_regex: text()
    .refine(isPattern, 'must be a regular expression')
    .optional()
    .describe('Regular expression for further origins.'),
  allow_methods: stringList().default(['*']).describe('Methods a browser may use.'),
  allow_headers: stringList().default(['*']).describe('Request headers a browser may send.'),
  allow_credentials: boolean()
    .default(false)
    .describe('Whether cookies may be sent; requires named origins.'),
  expose_headers: stringList()
    .default([
      'content-location',
      'location',
      'x-pagination-total',
      'x-pagination-next',
      'idempotency-replayed',
      'retry-after',
    ])
    .describe('Response headers a browser may read.'),
  max_age: integer(0, 31_536_000, 'seconds')
    .default(600)
    .describe('Seconds that a browser may cache a preflight response.'),
});

/** Header name patterns with `*` as wildcard. */
const headerPatterns = (what: string) =>
  group({
    includes: stringList()
      .default([])
      .describe(`${what}; \`x-*\` matches a prefix. Credentials and cookies must be named in full.`),
    excludes: stringList().default([]).describe('Exceptions to `includes`.'),
  }).prefault({});

export const Http = group({
  mount_prefix: text()
    .regex(/^(\/[\w.-]+)+$/, 'must be a path like /agents, without a slash at its end')
    .optional()
    .describe('Path prefix of every route.'),
  cors: Cors.prefault({}),
  disable_assistants: boolean().default(false).describe('Disables the routes under `/assistants`.'),
  disable_threads: boolean()
    .default(false)
    .describe('Disables the routes under `/threads` and `/interrupts`, and event streaming.'),
  disable_runs: boolean()
    .default(false)
    .describe('Disables the routes of runs, crons, webhook deliveries and usage.'),
  disable_store: boolean().default(false).describe('Disables the routes under `/store`.'),
  disable_meta: boolean()
    .default(false)
    .describe(
      'Disables `/`, `/info`, `/metrics`, `/docs`, `/openapi.json` and `/system`, without which Studio has no overview and no live updates.',
    ),
  disable_webhooks: boolean().default(false).describe('Disables webhooks.'),
  configurable_headers: headerPatterns("Request headers that are copied to a run's `configurable`"),
  logging_headers: headerPatterns('Request headers that are copied to the request log'),
  app: text()
    .regex(/^.+:[^:/\\]+$/, 'must be path:export, such as ./app.ts:app')
    .optional()
    .describe('Your own routes and middleware, as `path:export`, see [custom routes](custom-routes.md).'),
  middleware_order: oneOf(['auth_first', 'middleware_first'])
    .default('middleware_first')
    .describe('Whether your own app sees a request before authentication does.'),
  enable_custom_route_auth: boolean()
    .default(false)
    .describe('Requires authentication for your own routes too.'),
});

function isPattern(text: string): boolean {
  try {
    return new RegExp(text) instanceof RegExp;
  } catch {
    return false;
  }
}

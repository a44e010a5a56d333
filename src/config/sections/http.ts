import { signingKey } from '../../core/signing-key.ts';
import { bytes, flag, group, list, text, whole, word } from '../values.ts';

const Cors = group({
  allow_origins: list()
    .optional()
    .describe(
      'Origins whose pages may call; `*` is all. Unset: all, and of a server without keys those of this machine and of LangSmith Studio.',
    ),
  allow_origin_regex: text()
    .refine(isPattern, 'must be a regular expression')
    .optional()
    .describe('Regular expression for more origins.'),
  allow_methods: list().default(['*']).describe('Methods a browser may use.'),
  allow_headers: list().default(['*']).describe('Request headers a browser may send.'),
  allow_credentials: flag()
    .default(false)
    .describe('Whether cookies may be sent. Needs named origins: where any page may call, none are.'),
  expose_headers: list()
    .default([
      'content-location',
      'location',
      'x-pagination-total',
      'x-pagination-next',
      'idempotency-replayed',
      'retry-after',
    ])
    .describe('Response headers a browser may read.'),
  max_age: whole(0, 31_536_000, 'seconds')
    .default(600)
    .describe('Seconds a browser may keep the answer to a preflight request.'),
});

/** Names with `*` for anything. */
const headers = (what: string) =>
  group({
    includes: list()
      .default([])
      .describe(`${what}; \`x-*\` for all that begin so. Keys and cookies only by their whole name.`),
    excludes: list().default([]).describe('Those of them that do not.'),
  }).prefault({});

/** Of a message of which the libraries of its protocol make several copies at once. */
const messageLimit = () =>
  bytes('1kb', '500mb')
    .default(1024 ** 2)
    .describe(
      'Largest message, at most `server.body_limit`; a larger one is answered with 413. Other requests wait about 40 ms for each megabyte: the protocol and its library make texts and copies of a message as a whole.',
    );

const A2a = group({
  default_assistant: text()
    .optional()
    .describe('The assistant whose card is at `/.well-known/agent-card.json` without a parameter.'),
  card_default: word(['hybrid', '1.0', '0.3'])
    .default('hybrid')
    .describe(
      'The form of cards for clients that name no version; `hybrid` is 0.3 with what clients of 1.0 read as well.',
    ),
  card_access: word(['protected', 'public'])
    .default('protected')
    .describe('Who gets cards: who may call the server, or everybody. The extended card is never public.'),
  signing_key: text()
    .refine(
      (key) => signingKey(key) !== undefined,
      'must be a private key, EC, Ed25519 or RSA, in PEM or as a JWK',
    )
    .optional()
    .describe(
      'The private key that signs cards for clients of 1.0; they find its public half by themselves.',
    ),
  base_url: text()
    .optional()
    .describe('Where agents of others reach this server; what the request says without it.'),
  body_limit: messageLimit(),
});

export const Http = group({
  mount_prefix: text()
    .regex(/^(\/[\w.-]+)+$/, 'must be a path like /agents, without a slash at its end')
    .optional()
    .describe('Path that every route moves under.'),
  cors: Cors.prefault({}),
  disable_assistants: flag().default(false).describe('Leaves out the routes below `/assistants`.'),
  disable_threads: flag().default(false).describe('Leaves out the routes below `/threads`.'),
  disable_runs: flag().default(false).describe('Leaves out the routes of runs.'),
  disable_store: flag().default(false).describe('Leaves out the routes below `/store`.'),
  disable_meta: flag()
    .default(false)
    .describe('Leaves out `/info`, `/metrics`, `/docs` and `/openapi.json`.'),
  disable_mcp: flag().default(false).describe('Leaves out `/mcp`.'),
  disable_a2a: flag().default(false).describe('Leaves out `/a2a` and the agent cards.'),
  a2a: A2a.prefault({}),
  mcp: group({
    cancel_on_disconnect: flag()
      .default(false)
      .describe('Cancels the run of a tool call when its client goes away.'),
    base_url: text()
      .optional()
      .describe('Where MCP clients reach this server; what the request says without it.'),
    body_limit: messageLimit(),
  }).prefault({}),
  openai: group({
    enabled: flag()
      .default(false)
      .describe("Serves `/v1/models` and `/v1/chat/completions`, for front ends that speak OpenAI's API."),
  }).prefault({}),
  disable_ui: flag().default(false).describe('Leaves out `/ui`.'),
  disable_webhooks: flag().default(false).describe('Sends no webhooks.'),
  configurable_headers: headers("Request headers that become part of a run's `configurable`"),
  logging_headers: headers('Request headers that become part of the request log'),
  app: text()
    .regex(/^.+:[^:/\\]+$/, 'must be path:export, such as ./app.ts:app')
    .optional()
    .describe('Your own routes and middleware, as `path:export`, see [custom routes](custom-routes.md).'),
  middleware_order: word(['auth_first', 'middleware_first'])
    .default('middleware_first')
    .describe('Whether your own app sees a request before authentication does.'),
  enable_custom_route_auth: flag().default(false).describe('Authenticates your own routes too.'),
});

function isPattern(text: string): boolean {
  try {
    return new RegExp(text) instanceof RegExp;
  } catch {
    return false;
  }
}

import { z } from 'zod';
import { flag, group, list, must, PENDING, text, whole } from '../values.ts';

const map = <Value extends z.ZodType>(value: Value) => z.record(z.string(), value, must('a map'));

const Cache = group({
  cache_keys: list()
    .refine((names) => names.length > 0, 'must name at least one header')
    .describe('Request headers that decide who somebody is, such as `authorization`.'),
  ttl_seconds: whole(1, 31_536_000, 'seconds')
    .default(60)
    .describe('How long an answer of `authenticate` is used again.'),
  max_size: whole(1, 10_000_000, 'answers').default(1000).describe('How many answers are kept.'),
});

const Jwt = group({
  issuer: text().optional().describe('What the claim `iss` must be.'),
  audience: list().optional().describe('What the claim `aud` must be, or one of several.'),
  jwks_url: text()
    .refine((url) => /^https?:$/.test(URL.parse(url)?.protocol ?? ''), 'must be an http or https address')
    .optional()
    .describe("Where the issuer's public keys are; fetched again when a new one is used."),
  secret: text().optional().describe('Secret shared with the issuer, instead of `jwks_url`.'),
  identity_claim: text().default('sub').describe('Claim that says who somebody is.'),
  permissions_claim: text()
    .default('permissions')
    .describe(
      'Claim with their permissions: a list, or words in one text. `realm_access.roles` looks inside.',
    ),
  admin_permission: text()
    .optional()
    .describe('Who has this permission sees what everybody owns. Unset: nobody does.'),
}).refine(({ jwks_url, secret }) => (jwks_url === undefined) !== (secret === undefined), {
  error: 'needs either jwks_url or secret',
});

export const Auth = group({
  required: flag()
    .default(false)
    .describe(
      'Asks for a key although the configuration has none: one of `agent-server keys create` is needed. So it is anyway with `server.api_keys`, `path` or `jwt`.',
    ),
  path: text()
    .regex(/^.+:[^:/\\]+$/, 'must be path:export, such as ./auth.ts:auth')
    .optional()
    .describe('Your own handlers as `path:export`: an `Auth` of `@langchain/langgraph-sdk/auth`.'),
  authorization_servers: list()
    .default([])
    .describe(
      'Who issues the tokens that your handlers take, as addresses: MCP clients get one there by themselves. With `jwt.issuer`, that one is asked.',
    ),
  cache: Cache.optional().describe('Keeps what `authenticate` of your handlers answered.'),
  disable_studio_auth: flag()
    .default(true)
    .describe(
      'Whether your handlers see LangGraph Studio as anybody else. `false` believes whoever sends `x-auth-scheme: langsmith`; only for development.',
    ),
  jwt: Jwt.optional().describe('Tokens of an identity provider, without code. Everybody sees what they own.'),
  openapi: group({
    securitySchemes: map(map(z.unknown()))
      .optional()
      .describe('Ways to authenticate, as in `components.securitySchemes`.')
      .meta({ type: 'map' }),
    security: z
      .array(map(z.array(z.string())), must('a list'))
      .optional()
      .describe('Which of them an operation needs.')
      .meta({ type: 'list' }),
    paths: map(map(map(z.unknown())))
      .optional()
      .describe('Operations that need something else, by path and method.')
      .meta({ type: 'map' }),
  })
    .optional()
    .describe('What `/docs` and `/openapi.json` say about authentication.'),
  allow_langsmith_api_keys: flag().optional().describe('Lets in who has a key of LangSmith.').meta(PENDING),
}).refine(({ path, jwt }) => path === undefined || jwt === undefined, {
  error: 'has both path and jwt: choose one of them',
});

import { z } from 'zod';
import { boolean, group, integer, mustBe, NOT_SUPPORTED_YET, stringList, text } from '../value-types.ts';

const mapOf = <Value extends z.ZodType>(value: Value) => z.record(z.string(), value, mustBe('a map'));

const AuthCache = group({
  cache_keys: stringList()
    .refine((names) => names.length > 0, 'must name at least one header')
    .describe('Request headers that identify the caller, such as `authorization`.'),
  ttl_seconds: integer(1, 31_536_000, 'seconds')
    .default(60)
    .describe('How long a result of `authenticate` is reused.'),
  max_size: integer(1, 10_000_000, 'results').default(1000).describe('Maximum number of cached results.'),
});

const Jwt = group({
  issuer: text().optional().describe('Required value of the claim `iss`.'),
  audience: stringList().optional().describe('Accepted values of the claim `aud`.'),
  jwks_url: text()
    .refine((url) => /^https?:$/.test(URL.parse(url)?.protocol ?? ''), 'must be an http or https URL')
    .optional()
    .describe("URL of the issuer's public keys; fetched again when a token is signed with a new one."),
  secret: text().optional().describe('Secret shared with the issuer, instead of `jwks_url`.'),
  identity_claim: text().default('sub').describe('Claim that identifies the user.'),
  permissions_claim: text()
    .default('permissions')
    .describe(
      'Claim with the permissions: a list, or words separated by spaces. A path such as `realm_access.roles` is allowed.',
    ),
  admin_permission: text()
    .optional()
    .describe("Callers with this permission see everybody's data. Unset: no one does."),
}).refine(({ jwks_url, secret }) => (jwks_url === undefined) !== (secret === undefined), {
  error: 'requires either jwks_url or secret',
});

export const Auth = group({
  required: boolean()
    .default(false)
    .describe(
      'Requires authentication although the configuration has no keys: create one with `agent-server keys create`. Always on with `server.api_keys`, `path` or `jwt`.',
    ),
  path: text()
    .regex(/^.+:[^:/\\]+$/, 'must be path:export, such as ./auth.ts:auth')
    .optional()
    .describe('Your own handlers as `path:export`: an `Auth` of `@langchain/langgraph-sdk/auth`.'),
  authorization_servers: stringList()
    .default([])
    .describe(
      'URLs of the issuers of the tokens that your handlers accept, where MCP clients get a token by themselves. Default: `jwt.issuer`.',
    ),
  cache: AuthCache.optional().describe('Caches the results of `authenticate`.'),
  disable_studio_auth: boolean()
    .default(true)
    .describe(
      'Whether LangGraph Studio must authenticate like any other client. `false` lets in every request with `x-auth-scheme: langsmith`; only for development.',
    ),
  jwt: Jwt.optional().describe(
    'Tokens of an identity provider, without code. Users see only their own data.',
  ),
  openapi: group({
    securitySchemes: mapOf(mapOf(z.unknown()))
      .optional()
      .describe('Ways to authenticate, as in `components.securitySchemes`.')
      .meta({ type: 'map' }),
    security: z
      .array(mapOf(z.array(z.string())), mustBe('a list'))
      .optional()
      .describe('Which of them an operation requires.')
      .meta({ type: 'list' }),
    paths: mapOf(mapOf(mapOf(z.unknown())))
      .optional()
      .describe('Operations with other requirements, by path and method.')
      .meta({ type: 'map' }),
  })
    .optional()
    .describe('What `/docs` and `/openapi.json` say about authentication.'),
  allow_langsmith_api_keys: boolean()
    .optional()
    .describe('Accepts LangSmith API keys.')
    .meta(NOT_SUPPORTED_YET),
}).refine(({ path, jwt }) => path === undefined || jwt === undefined, {
  error: 'has both path and jwt: choose one of them',
});

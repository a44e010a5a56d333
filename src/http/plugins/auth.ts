import type { IncomingHttpHeaders } from 'node:http';
import type { FastifyContextConfig, FastifyInstance, FastifyRequest } from 'fastify';
import { type Actor, type Identity, systemActor } from '../../auth/actor.ts';
import { GRAPHS_OF_DEPLOYMENT } from '../../auth/api-keys.ts';
import type { Authenticate, Caller } from '../../auth/authenticate.ts';
import { requireScope } from '../../auth/scopes.ts';
import { CRON_OF_RUN_HEADER } from '../../core/cron-of-run.ts';
import { Unauthorized } from '../../core/errors.ts';
import { isUuid } from '../../core/ids.ts';
import { parseTraceparent } from '../../core/trace-ids.ts';
import { internalRequestOf, isInProcess } from '../in-process.ts';
import { publicUrl } from '../public-url.ts';

declare module 'fastify' {
  interface FastifyRequest {
    actor: Actor;
  }
}

export interface AuthOptions {
  /** Undefined disables authentication, which the configuration allows on loopback only. */
  readonly authenticate: Authenticate | undefined;
  /** Users authenticate, besides API keys: by custom auth handlers or an identity provider. */
  readonly has_users: boolean;
  /** Identity of the project's code, whose client may send no valid key. Otherwise it is authenticated like others. */
  readonly own_graphs?: Identity | undefined;
  /** Token issuers, published for clients that obtain tokens themselves. */
  readonly issuers: readonly string[];
  /** Interval at which callers of open streams are re-authenticated, ms; a minute by default. */
  readonly authenticate_every_ms?: number | undefined;
}

const identities = new WeakMap<FastifyRequest, Identity | undefined>();

/** The authenticated caller; `undefined` if the request needed no authentication. */
export function identityOf(request: FastifyRequest): Identity | undefined {
  return identities.get(request);
}

/** Authenticates the caller, once per request. Throws if the request is refused. */
export type AuthHook = (request: FastifyRequest) => Promise<void>;

/**
 * Sets `request.actor`. Unknown paths require authentication too, so that routes cannot be enumerated. The headers that
 * `headersOf` picks become part of the configuration of runs. Resolves to false if the caller was already identified.
 */
export function authenticateHook(
  server: FastifyInstance,
  { authenticate, has_users, own_graphs }: AuthOptions,
  headersOf: (headers: IncomingHttpHeaders) => Record<string, string>,
): (request: FastifyRequest) => Promise<boolean> {
  server.decorateRequest('actor');
  return async (request) => {
    if (identities.has(request)) return false;
    identities.set(request, undefined);
    const { id: request_id, raw } = request;
    const internal = internalRequestOf(raw);
    const headers = headersOf(raw.headers);
    const trace = traceOf(raw.headers);
    const context = { request_id, headers, trace, ...(isInProcess(raw) && internalCaller(raw.headers)) };
    request.actor = { ...systemActor(request_id), ...context };
    // A webhook from this server; it reaches custom routes only.
    if (internal && !internal.from) return false;
    if (!authenticate || request.method === 'OPTIONS') return true;
    if (isPublicRoute(request, has_users)) return true;
    const before = internal && identities.get(internal.from);
    const fallback = internal || !isInProcess(raw) ? undefined : own_graphs;
    const identity =
      before ??
      (await authenticate(callerOf(request)).catch((error: unknown) => {
        if (fallback && error instanceof Unauthorized) return fallback;
        throw error;
      }));
    if (!request.is404) requireScope(identity.scope, request.routeOptions.config.scope ?? 'admin');
    identities.set(request, identity);
    request.actor = { ...identity, ...context };
    return true;
  };
}

/** What a caller in the project's code reports of itself; the header of any other caller is ignored. */
function internalCaller({ [CRON_OF_RUN_HEADER]: cron_id }: IncomingHttpHeaders) {
  return typeof cron_id === 'string' && isUuid(cron_id) ? { cron_of_run: cron_id } : {};
}

/** Trace context of the caller, from headers or from the `_meta` of an MCP request. */
export function traceOf({ traceparent, tracestate }: Readonly<Record<string, unknown>>): Actor['trace'] {
  if (typeof traceparent !== 'string' || !parseTraceparent(traceparent)) return undefined;
  const isState = typeof tracestate === 'string' && tracestate.length <= MAX_TRACESTATE;
  return { traceparent, ...(isState && { tracestate }) };
}

/** Longer values may be dropped (W3C Trace Context, 3.3.1.5), characters. */
const MAX_TRACESTATE = 512;

function isPublicRoute({ routeOptions: { config } }: FastifyRequest, has_users: boolean): boolean {
  const { open = false }: FastifyContextConfig = config;
  return open === 'among users' ? has_users : open;
}

/** Whether the route needs no authentication, so that the request cannot be used to guess keys. */
export function isPublic(
  request: FastifyRequest,
  { authenticate, has_users }: Pick<AuthOptions, 'authenticate' | 'has_users'>,
): boolean {
  return !authenticate || isPublicRoute(request, has_users);
}

/**
 * Re-authenticates the caller of a request, like a new request to the same route; without authentication, the
 * caller stays the same. Rejects as for a request.
 */
export function reauthentication(
  request: FastifyRequest,
  authenticate: Authenticate | undefined,
): () => Promise<Actor> {
  const { actor, raw, routeOptions } = request;
  // The token of graphs never expires.
  if (!authenticate || identityOf(request) === GRAPHS_OF_DEPLOYMENT) return async () => actor;
  // A request that the custom app forwards may lack the credential of the original request.
  const from = internalRequestOf(raw)?.from;
  const caller = callerOf(from && identityOf(from) ? from : request);
  const scope = routeOptions.config.scope ?? 'admin';
  return async () => {
    const identity = await authenticate(caller);
    requireScope(identity.scope, scope);
    return { ...actor, key: undefined, token_key: undefined, ...identity };
  };
}

/** The parts of a request that authentication needs. */
export function callerOf(request: FastifyRequest): Caller {
  const { method, url, headers, is404: is_custom_route } = request;
  return { method, url: `${publicUrl(request) ?? 'http://localhost'}${url}`, headers, is_custom_route };
}

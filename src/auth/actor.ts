import type { Visibility } from '../storage/access/visibility.ts';
import type { Scope } from './scopes.ts';

/** An authenticated user, with any fields that custom authentication adds (contract §10). */
export interface User {
  readonly identity: string;
  readonly permissions: readonly string[];
  readonly [field: string]: unknown;
}

/** Result of authentication: user, scope and access rules. */
export interface Identity {
  /** `null` without authentication, or with an API key alone. */
  readonly user: User | null;
  readonly scope: Scope;
  /** Evaluated by `authorize`; all must allow. Empty allows everything. */
  readonly rules: readonly Rule[];
  /** Owner of idempotency keys, conversation names and rate limits: see `principalOf`. `''` without authentication. */
  readonly principal: string;
  /** Id of the API key sent, if any; tokens are derived from it. */
  readonly key?: string | undefined;
  /** Id of the API key with which the token sent, if any, was created; the token's own rights apply. */
  readonly token_key?: string | undefined;
}

/** The authenticated caller of a request, or the server itself. First parameter of every service method. */
export interface Actor extends Identity {
  /** Passed to the actor's runs as `langgraph_request_id`. */
  readonly request_id: string;
  /** The cron whose run makes the request. */
  readonly cron_of_run?: string;
  /** Request headers that the configuration copies to the runs' `configurable`. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Span of the caller that its runs become part of: a valid `traceparent` (W3C Trace Context), and its `tracestate`. */
  readonly trace?: { readonly traceparent: string; readonly tracestate?: string | undefined } | undefined;
  /** Protocol adapter that the caller uses, if any; graphs see it in `configurable`. */
  readonly protocol?: { readonly name: string; readonly version: string } & Readonly<Record<string, unknown>>;
}

/** A resource and an action (contract §10). */
export type AccessEvent =
  | `threads:${'create' | 'read' | 'update' | 'delete' | 'search' | 'create_run'}`
  | `assistants:${'create' | 'read' | 'update' | 'delete' | 'search'}`
  | `crons:${'create' | 'read' | 'update' | 'delete' | 'search'}`
  | `store:${'put' | 'get' | 'search' | 'delete' | 'list_namespaces'}`;

/**
 * Returns the rows that the actor may do this to, `undefined` for all, or throws. May modify `value`, the proposed
 * change: `metadata` of a created or updated row, `namespace` of the store.
 */
export type Rule = (
  event: AccessEvent,
  value: Record<string, unknown>,
) => Promise<Visibility | undefined> | Visibility | undefined;

/**
 * Names a caller. The kind is part of it: a user may have any identity, also that of a key or a token.
 */
export function principalOf(
  kind: 'user' | 'key' | 'token',
  ...names: readonly (string | undefined)[]
): string {
  return JSON.stringify([kind, ...names]);
}

/** Full access. */
export const UNRESTRICTED: Identity = { user: null, scope: 'admin', rules: [], principal: '' };

/** The server itself, or any caller if authentication is disabled. */
export function systemActor(request_id: string): Actor {
  return { ...UNRESTRICTED, request_id };
}

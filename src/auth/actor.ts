import type { Visibility } from '../storage/access/visibility.ts';
import type { Scope } from './scopes.ts';

/** What authentication says about somebody, and whatever else its own code adds (CONTRACT §10). */
export interface User {
  readonly identity: string;
  readonly permissions: readonly string[];
  readonly [field: string]: unknown;
}

/** Who somebody turned out to be, and what they may do. */
export interface Identity {
  /** Null where nobody in particular is known: without authentication, or with a key alone. */
  readonly user: User | null;
  readonly scope: Scope;
  /** Each is asked by `authorize`, and all must agree; none allows everything. */
  readonly rules: readonly Rule[];
  /** Tells apart whose idempotency keys and names of conversations are whose; '' for everybody with a key. */
  readonly principal: string;
  /** Names the key that was sent, if one was: tokens are made with it. */
  readonly key?: string | undefined;
}

/** Who acts: the authenticated caller of a request, or the server itself. Every service takes it first. */
export interface Actor extends Identity {
  /** Goes into the configuration of the actor's runs as `langgraph_request_id`. */
  readonly request_id: string;
  /** The request came from the project's own code in this process, such as a run that starts another. */
  readonly is_internal?: boolean;
  /** Headers of the request that the configuration wants to be part of the runs' `configurable`. */
  readonly headers?: Readonly<Record<string, string>>;
  /** The protocol that the caller speaks where it is not the server's own; graphs see it in `configurable`. */
  readonly protocol?: { readonly name: string; readonly version: string } & Readonly<Record<string, unknown>>;
}

/** What somebody wants to do: a resource and an action (CONTRACT §10). */
export type AccessEvent =
  | `threads:${'create' | 'read' | 'update' | 'delete' | 'search' | 'create_run'}`
  | `assistants:${'create' | 'read' | 'update' | 'delete' | 'search'}`
  | `crons:${'create' | 'read' | 'update' | 'delete' | 'search'}`
  | `store:${'put' | 'get' | 'search' | 'delete' | 'list_namespaces'}`;

/**
 * Says which rows the actor may do this to, undefined for all, or throws. It may change the value, which is what will
 * be done: `metadata` of what is made or changed, `namespace` of the store.
 */
export type Rule = (
  event: AccessEvent,
  value: Record<string, unknown>,
) => Promise<Visibility | undefined> | Visibility | undefined;

/** Who may do everything. */
export const UNRESTRICTED: Identity = { user: null, scope: 'admin', rules: [], principal: '' };

/** The server itself, or everybody where nobody is told apart. */
export function systemActor(request_id: string): Actor {
  return { ...UNRESTRICTED, request_id };
}

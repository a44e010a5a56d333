import type { Visibility } from '../storage/visibility.ts';

/** What authentication says about somebody, and whatever else its own code adds (CONTRACT §10). */
export interface User {
  readonly identity: string;
  readonly permissions: readonly string[];
  readonly [field: string]: unknown;
}

/** Who acts: the authenticated caller of a request, or the server itself. Every service takes it first. */
export interface Actor {
  /** Null where nobody in particular is known: without authentication, or with a key alone. */
  readonly user: User | null;
  /** Goes into the configuration of the actor's runs as `langgraph_request_id`. */
  readonly request_id: string;
  /** Each is asked by `authorize`, and all must agree; none allows everything. */
  readonly rules: readonly Rule[];
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

/** The server itself, or everybody where nobody is told apart. */
export function systemActor(request_id: string): Actor {
  return { user: null, request_id, rules: NO_RULES };
}

const NO_RULES: readonly Rule[] = [];

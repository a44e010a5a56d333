/** Who acts: the authenticated caller of a request, or the server itself. Every service takes it first. */
export interface Actor {
  /** Null without custom authentication. */
  readonly user: { readonly identity: string; readonly permissions: readonly string[] } | null;
  /** Goes into the configuration of the actor's runs as `langgraph_request_id`. */
  readonly request_id: string;
  /** The protocol that the caller speaks where it is not the server's own; graphs see it in `configurable`. */
  readonly protocol?: { readonly name: string; readonly version: string } & Readonly<Record<string, unknown>>;
}

export function systemActor(request_id: string): Actor {
  return { user: null, request_id };
}

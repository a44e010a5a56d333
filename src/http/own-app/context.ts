/** Who sends a request, as the official server tells the project's own routes. */
export interface CallerContext {
  readonly user: unknown;
  readonly scopes: readonly string[];
}

/** What an app made for `fetch` may need beside the request. */
export interface FetchContext {
  /** Undefined without authentication. */
  readonly auth: CallerContext | undefined;
  /** The server has a route for this request. */
  readonly is_ours: boolean;
  /** Has a request answered by the server's own routes. */
  pass(request: Request): Promise<Response>;
}

import type { Scope } from '../auth/scopes.ts';

declare module 'fastify' {
  /** Route options beside the schema; plugins read them from `request.routeOptions.config`. */
  interface FastifyContextConfig {
    /** No authentication; `among users`: authentication only if API keys are the sole method (CONTRACT §10). */
    open?: boolean | 'among users';
    /** Scope that the key needs; defaults to `admin`. */
    scope?: Scope;
    /** Pages of every origin may read it, also frames that have none: files that are the same for everybody. */
    any_origin?: boolean;
    /** Supports `Idempotency-Key`, which is added to the route's schema. */
    idempotent?: boolean;
  }
}

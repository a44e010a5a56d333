import type { Scope } from '../auth/scopes.ts';

declare module 'fastify' {
  /** Route options besides the schema; plugins read them from `request.routeOptions.config`. */
  interface FastifyContextConfig {
    /** No authentication; `among users`: authentication only if API keys are the sole method (contract §10). */
    open?: boolean | 'among users';
    /** Scope that the key needs; defaults to `admin`. */
    scope?: Scope;
    /** Pages of any origin may read it, and frames without one: for files that are the same for everyone. */
    any_origin?: boolean;
    /** Supports `Idempotency-Key`, which is added to the route's schema. */
    idempotent?: boolean;
  }
}

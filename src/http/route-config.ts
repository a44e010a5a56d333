import type { Scope } from '../auth/scopes.ts';

declare module 'fastify' {
  /** What a route declares beside its schema; plugins read it from `request.routeOptions.config`. */
  interface FastifyContextConfig {
    /** Served without authentication; `among users`: unless API keys are the only way in (CONTRACT §10). */
    open?: boolean | 'among users';
    /** The scope a key needs; `admin` where none is declared. */
    scope?: Scope;
    /** Honours `Idempotency-Key`: the header becomes part of the route's schema. */
    idempotent?: boolean;
  }
}

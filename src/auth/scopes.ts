/**
 * What a key may be used for; each includes the ones before it: `read` looks, `run` works with threads, runs, crons and
 * the store, `admin` changes what is offered to everybody.
 */
export const SCOPES = ['read', 'run', 'admin'] as const;

export type Scope = (typeof SCOPES)[number];

export function scopeIncludes(scope: Scope, needed: Scope): boolean {
  return SCOPES.indexOf(scope) >= SCOPES.indexOf(needed);
}

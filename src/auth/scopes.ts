/**
 * Scopes of a key, each including the previous ones: `read` only reads; `run` works with threads, runs, crons and the
 * store; `admin` changes resources shared by all users.
 */
export const SCOPES = ['read', 'run', 'admin'] as const;

export type Scope = (typeof SCOPES)[number];

export function scopeIncludes(scope: Scope, needed: Scope): boolean {
  return SCOPES.indexOf(scope) >= SCOPES.indexOf(needed);
}

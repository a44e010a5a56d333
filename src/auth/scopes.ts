import { Forbidden } from '../core/errors.ts';

/**
 * Scopes of a key. `read`, `run` and `admin` each include the previous ones: `read` only reads; `run` works with threads,
 * runs, crons and the store; `admin` changes resources shared by all users. `deployments:write` is for deployments only:
 * it reads nothing else. `admin` includes it, because `admin` can create a key with it.
 */
export const SCOPES = ['read', 'run', 'admin', 'deployments:write'] as const;

export type Scope = (typeof SCOPES)[number];

const LEVELS: readonly Scope[] = ['read', 'run', 'admin'];

export function scopeIncludes(scope: Scope, needed: Scope): boolean {
  if (scope === needed || scope === 'admin') return true;
  return LEVELS.includes(needed) && LEVELS.indexOf(scope) >= LEVELS.indexOf(needed);
}

/** Throws `Forbidden` unless the scope includes the needed one. */
export function requireScope(scope: Scope, needed: Scope): void {
  if (scopeIncludes(scope, needed)) return;
  throw new Forbidden(`This requires a key with the scope "${needed}"; yours has "${scope}".`);
}

import type { Clock } from '../core/clock.ts';
import type { Identity } from './actor.ts';
import type { Caller } from './caller.ts';

/** The `auth.cache` block (CONTRACT §10). */
export interface CacheOptions {
  /** Names of the headers that decide who somebody is. */
  readonly cache_keys: readonly string[];
  readonly ttl_seconds: number;
  readonly max_size: number;
}

type Authenticate = (caller: Caller) => Promise<Identity>;

/** Remembers who sent certain headers. A request without any of them is always looked at, and no refusal is kept. */
export function identityCache(options: CacheOptions | undefined, clock: Clock) {
  if (!options) return (caller: Caller, authenticate: Authenticate) => authenticate(caller);
  const names = options.cache_keys.map((name) => name.toLowerCase());
  const known = new Map<string, { identity: Identity; until: number }>();

  return async (caller: Caller, authenticate: Authenticate): Promise<Identity> => {
    const values = names.map((name) => caller.headers[name] ?? null);
    if (values.every((value) => value === null)) return authenticate(caller);
    const key = JSON.stringify(values);
    const found = known.get(key);
    if (found && found.until > clock.monotonic()) return found.identity;
    const identity = await authenticate(caller);
    known.delete(key);
    if (known.size >= options.max_size) known.delete(known.keys().next().value as string);
    known.set(key, { identity, until: clock.monotonic() + options.ttl_seconds * 1000 });
    return identity;
  };
}

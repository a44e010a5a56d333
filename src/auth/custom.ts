import { LRUCache } from 'lru-cache';
import type { Clock } from '../core/clock.ts';
import { Forbidden } from '../core/errors.ts';
import { type Identity, principalOf, type Rule, type User } from './actor.ts';
import type { Caller } from './authenticate.ts';
import type { AuthHandlers } from './handlers.ts';

export interface CustomAuthOptions {
  readonly cache?: CacheOptions | undefined;
  /** Accepts callers that claim to be LangGraph Studio, as its own user (contract §10). */
  readonly studio: boolean;
}

const STUDIO_USER: User = {
  kind: 'StudioUser',
  identity: 'langgraph-studio-user',
  display_name: 'langgraph-studio-user',
  permissions: [],
  is_authenticated: true,
};

/** Authentication and access rules of a project with its own handlers (contract §10). */
export function customAuth(handlers: AuthHandlers, { cache, studio }: CustomAuthOptions, clock: Clock) {
  const cached = identityCache(cache, clock);

  async function authenticate(caller: Caller): Promise<Identity> {
    return identityOf(await handlers.authenticate(caller));
  }

  function identityOf(user: User): Identity {
    const principal = principalOf('user', user.identity);
    return { user, scope: 'admin', rules: [ruleOf(handlers, user)], principal };
  }

  return {
    async authenticate(caller: Caller): Promise<Identity> {
      // Before the cache, whose keys need not include this header.
      if (studio && caller.headers['x-auth-scheme'] === 'langsmith') return identityOf(STUDIO_USER);
      return cached(caller, authenticate);
    },
    /** Identity for work without a request, such as a cron's run. */
    identityOf,
  };
}

function ruleOf(handlers: AuthHandlers, user: User): Rule {
  return async (event, value) => {
    const allowed = await handlers.authorize(event, value, user);
    if (allowed === false) throw new Forbidden('Forbidden');
    return allowed === true ? undefined : { metadata: allowed };
  };
}

/** The `auth.cache` block (contract §10). */
export interface CacheOptions {
  /** Names of the headers that identify a caller. */
  readonly cache_keys: readonly string[];
  readonly ttl_seconds: number;
  readonly max_size: number;
}

type Authenticate = (caller: Caller) => Promise<Identity>;

/** Caches identities by header values. Bypassed if none of the headers is set; failures are not cached. */
function identityCache(options: CacheOptions | undefined, clock: Clock) {
  if (!options) return (caller: Caller, authenticate: Authenticate) => authenticate(caller);
  const names = options.cache_keys.map((name) => name.toLowerCase());
  const cache = new LRUCache<string, { identity: Identity; until: number }>({ max: options.max_size });

  return async (caller: Caller, authenticate: Authenticate): Promise<Identity> => {
    const values = names.map((name) => caller.headers[name] ?? null);
    if (values.every((value) => value === null)) return authenticate(caller);
    const key = JSON.stringify(values);
    const cachedEntry = cache.get(key);
    if (cachedEntry && cachedEntry.until > clock.monotonic()) return cachedEntry.identity;
    const identity = await authenticate(caller);
    cache.set(key, { identity, until: clock.monotonic() + options.ttl_seconds * 1000 });
    return identity;
  };
}

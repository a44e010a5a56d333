import { createHash, timingSafeEqual } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { type Clock, timestamp } from '../core/clock.ts';
import { ServerError, Unauthorized } from '../core/errors.ts';
import type { Ids } from '../core/ids.ts';
import type { ApiKey, KeyLookup } from '../storage/access/api-keys.ts';
import { type Identity, principalOf, UNRESTRICTED } from './actor.ts';
import type { Scope } from './scopes.ts';

export interface KeyRingDeps {
  /** Keys from the configuration; they have full access. */
  readonly api_keys: readonly string[];
  readonly stored: KeyLookup;
  /** Token of the graphs of a deployment, for its own API. */
  readonly graph_token?: string | undefined;
  readonly clock: Clock;
}

/** TTL of a cached key, ms: upper bound until a revocation takes effect in every process. */
const CACHE_TTL_MS = 1000;
/** Resolution of `last_used_at`, ms. */
const LAST_USED_RESOLUTION_MS = 10 * 60_000;
const MAX_CACHED = 1000;
/** Prefix of stored keys; nothing else is looked up. */
const PREFIX = 'ask_';
const CONFIG_KEY_PREFIX = 'config:';

/** The graphs of a deployment, which may do what they could do in their own database anyway. */
export const GRAPHS_OF_DEPLOYMENT: Identity = {
  ...UNRESTRICTED,
  scope: 'run',
  principal: principalOf('token', 'graphs'),
};

export type KeyRing = ReturnType<typeof keyRing>;

/** API keys: those of the configuration, and those created by `agent-server keys`. */
export function keyRing({ api_keys, stored, graph_token, clock }: KeyRingDeps) {
  const ofGraphs = graph_token === undefined ? undefined : digestOf(graph_token);
  const configured = api_keys.map(digestOf);
  const cache = new LRUCache<string, { key: ApiKey; until: number }>({ max: MAX_CACHED });

  let revocations = 0;

  async function cachedKey(
    name: string,
    load: () => Promise<ApiKey | undefined>,
  ): Promise<ApiKey | undefined> {
    const cached = cache.get(name);
    if (cached && cached.until > clock.monotonic()) return cached.key;
    const before = revocations;
    const key = await load();
    cache.delete(name);
    if (!key) return undefined;
    // Do not cache a key that may have been read before a revocation.
    if (before === revocations) cache.set(name, { key, until: clock.monotonic() + CACHE_TTL_MS });
    return key;
  }

  async function recordUse({ key_id, last_used_at }: ApiKey): Promise<void> {
    const now = clock.now();
    if (last_used_at && now - Date.parse(last_used_at) < LAST_USED_RESOLUTION_MS) return;
    await stored.recordUse(key_id, timestamp(now)).catch((error: unknown) => {
      // On a full disk reads still work: do not reject a request because its time cannot be stored.
      if (!(error instanceof ServerError)) throw error;
    });
  }

  function invalidReason({ revoked_at, expires_at }: ApiKey): string | undefined {
    if (revoked_at) return 'This API key was revoked';
    if (expires_at && Date.parse(expires_at) <= clock.now()) return 'This API key has expired';
    return undefined;
  }

  return {
    /** Evicts a revoked key from the cache: the next request reads it again. */
    forget(key_id: string): void {
      revocations += 1;
      for (const [name, { key }] of cache.entries()) if (key.key_id === key_id) cache.delete(name);
    },

    /** Returns `undefined` if it is not an API key. Throws `Unauthorized` for a revoked or expired one. */
    async identify(credential: string): Promise<Identity | undefined> {
      const digest = digestOf(credential);
      const own = configured.filter((known) => timingSafeEqual(known, digest))[0];
      if (own) return identityOf(nameOf(own), 'admin');
      if (ofGraphs && timingSafeEqual(ofGraphs, digest)) return GRAPHS_OF_DEPLOYMENT;
      if (!credential.startsWith(PREFIX)) return undefined;
      const hex = digest.toString('hex');
      const key = await cachedKey(hex, async () => {
        const found = await stored.findByDigest(hex);
        if (found && !invalidReason(found)) await recordUse(found);
        return found;
      });
      if (!key) return undefined;
      const problem = invalidReason(key);
      if (problem) throw new Unauthorized(problem);
      return identityOf(key.key_id, key.scope as Scope);
    },

    /** Whether the key (`Identity.key`) is still valid, and so the tokens created with it. */
    async isValid(name: string): Promise<boolean> {
      if (name.startsWith(CONFIG_KEY_PREFIX)) return configured.some((digest) => nameOf(digest) === name);
      const key = await cachedKey(name, () => stored.get(name));
      return key !== undefined && invalidReason(key) === undefined;
    },
  };
}

function identityOf(key: string, scope: Scope): Identity {
  return { ...UNRESTRICTED, scope, key, principal: principalOf('key', key) };
}

/** A new key, shown only once, and the record to store. */
export function generateKey(
  ids: Ids,
  {
    name,
    scope,
    created_at,
    expires_at,
  }: Pick<ApiKey, 'name' | 'created_at' | 'expires_at'> & { scope: Scope },
): { key: string; record: ApiKey } {
  const key = `${PREFIX}${ids.secret()}`;
  const digest = digestOf(key).toString('hex');
  const record = { key_id: ids.uuid7(), name, digest, scope, created_at, expires_at };
  return { key, record: { ...record, revoked_at: null, last_used_at: null } };
}

/** Names a configured key by a digest prefix: identifies the key without revealing it. */
function nameOf(digest: Buffer): string {
  return `${CONFIG_KEY_PREFIX}${digest.toString('hex').slice(0, 16)}`;
}

/** Fixed-length digests suit the constant-time comparison; comparing raw keys would leak their length. */
function digestOf(key: string): Buffer {
  return createHash('sha256').update(key).digest();
}

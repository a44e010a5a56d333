import { createHash, timingSafeEqual } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { type Clock, timestamp } from '../core/clock.ts';
import { Unauthorized } from '../core/errors.ts';
import type { Ids } from '../core/ids.ts';
import type { ApiKey, ApiKeyRepository } from '../storage/access/api-keys.ts';
import { type Identity, UNRESTRICTED } from './actor.ts';
import type { Scope } from './scopes.ts';

export interface KeyRingDeps {
  /** Of the configuration: they may do everything. */
  readonly api_keys: readonly string[];
  readonly stored: ApiKeyRepository;
  readonly clock: Clock;
}

/** How long a stored key is trusted without a look: revoking takes this long at most, in every process. */
const CACHE_TTL_MS = 1000;
/** How exactly it is known when a key was last used. */
const LAST_USED_RESOLUTION_MS = 10 * 60_000;
const MAX_CACHED = 1000;
/** Marks a stored key, so that nothing else is looked up. */
const PREFIX = 'ask_';
const CONFIG_KEY_PREFIX = 'config:';

export type KeyRing = ReturnType<typeof keyRing>;

/** The keys that open the server: those of the configuration, and those that `agent-server keys` made. */
export function keyRing({ api_keys, stored, clock }: KeyRingDeps) {
  const configured = api_keys.map(digestOf);
  const cache = new LRUCache<string, { key: ApiKey; until: number }>({ max: MAX_CACHED });

  async function cachedKey(
    name: string,
    load: () => Promise<ApiKey | undefined>,
  ): Promise<ApiKey | undefined> {
    const cached = cache.get(name);
    if (cached && cached.until > clock.monotonic()) return cached.key;
    const key = await load();
    cache.delete(name);
    if (!key) return undefined;
    cache.set(name, { key, until: clock.monotonic() + CACHE_TTL_MS });
    return key;
  }

  async function recordUse({ key_id, last_used_at }: ApiKey): Promise<void> {
    const now = clock.now();
    if (last_used_at && now - Date.parse(last_used_at) < LAST_USED_RESOLUTION_MS) return;
    await stored.recordUse(key_id, timestamp(now));
  }

  function invalidReason({ revoked_at, expires_at }: ApiKey): string | undefined {
    if (revoked_at) return 'This API key was revoked';
    if (expires_at && Date.parse(expires_at) <= clock.now()) return 'This API key has expired';
    return undefined;
  }

  return {
    /** Undefined for what is no key of ours. Throws `Unauthorized` for one that is no longer good. */
    async identify(credential: string): Promise<Identity | undefined> {
      const digest = digestOf(credential);
      const own = configured.filter((known) => timingSafeEqual(known, digest))[0];
      if (own) return { ...UNRESTRICTED, key: nameOf(own) };
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
      return { ...UNRESTRICTED, scope: key.scope as Scope, key: key.key_id };
    },

    /** Whether what this key has made is good: `Identity.key`. */
    async isValid(name: string): Promise<boolean> {
      if (name.startsWith(CONFIG_KEY_PREFIX)) return configured.some((digest) => nameOf(digest) === name);
      const key = await cachedKey(name, () => stored.get(name));
      return key !== undefined && invalidReason(key) === undefined;
    },
  };
}

/** A new key, which nobody will see again, and what is kept of it. */
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

/** A key of the configuration by part of its digest: enough to know it again, and nothing to guess it from. */
function nameOf(digest: Buffer): string {
  return `${CONFIG_KEY_PREFIX}${digest.toString('hex').slice(0, 16)}`;
}

/** Digests have one length, which the constant-time comparison needs and a key's own length would betray. */
function digestOf(key: string): Buffer {
  return createHash('sha256').update(key).digest();
}

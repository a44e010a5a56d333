import type { Actor } from '../auth/actor.ts';
import { generateKey, type KeyRing } from '../auth/api-keys.ts';
import { requireUnrestricted } from '../auth/authorize.ts';
import type { Scope } from '../auth/scopes.ts';
import { type Clock, timestamp } from '../core/clock.ts';
import { Forbidden, NotFound } from '../core/errors.ts';
import type { Ids } from '../core/ids.ts';
import type { Logger } from '../core/logger.ts';
import type { EventBus } from '../events/bus.ts';
import type { Key, KeyCreate, KeyCreated } from '../schemas/keys.ts';
import type { ApiKey, ApiKeyRepository } from '../storage/access/api-keys.ts';

const DAY_MS = 24 * 60 * 60_000;

export interface KeyDeps {
  readonly apiKeys: ApiKeyRepository;
  /** Keys cached in this process; a revoked key is evicted at once. */
  readonly ring: Pick<KeyRing, 'forget'>;
  readonly bus: EventBus;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly logger: Logger;
}

export type KeyService = ReturnType<typeof keyService>;

/**
 * API keys created at run time. A key gives access to everything, so only unrestricted callers may manage keys:
 * every method throws `Forbidden` for users and tokens.
 */
export function keyService({ apiKeys, ring, bus, clock, ids, logger }: KeyDeps) {
  return {
    /**
     * Only this result contains the secret. Throws `Forbidden` for a caller without a key: on a server that asks for
     * none, anything on the machine could create a key that stays valid once authentication is configured.
     */
    async create(actor: Actor, { name, scope, expires_in_days }: KeyCreate): Promise<KeyCreated> {
      requireUnrestricted(actor, 'API keys');
      if (actor.key === undefined)
        throw new Forbidden(
          'Only a caller with an API key can create keys. Create the first one with "agent-server keys create".',
        );
      const now_ms = clock.now();
      const { key, record } = generateKey(ids, {
        name,
        scope,
        created_at: timestamp(now_ms),
        expires_at: expires_in_days == null ? null : timestamp(now_ms + expires_in_days * DAY_MS),
      });
      await apiKeys.insert(record);
      bus.emit('row.changed', 'key', record.key_id);
      logger.info('API key created', { key_id: record.key_id, scope, by_key: actor.key });
      return { ...publicKey(record), key };
    },

    /** Oldest first, including revoked and expired keys. */
    async list(actor: Actor): Promise<Key[]> {
      requireUnrestricted(actor, 'API keys');
      return (await apiKeys.list()).map(publicKey);
    },

    /**
     * Takes effect at once in this process and within a second in others, also for tokens created with the key.
     * Throws `NotFound` if the key does not exist or is already revoked.
     */
    async revoke(actor: Actor, key_id: string): Promise<void> {
      requireUnrestricted(actor, 'API keys');
      if (!(await apiKeys.revoke(key_id, timestamp(clock.now()))))
        throw new NotFound(`API key ${key_id} not found, or already revoked`);
      ring.forget(key_id);
      bus.emit('row.changed', 'key', key_id);
      logger.info('API key revoked', { key_id, by_key: actor.key });
    },
  };
}

function publicKey({ digest: _digest, scope, ...key }: ApiKey): Key {
  return { ...key, scope: scope as Scope };
}

import type { Actor } from '../auth/actor.ts';
import { generateKey, type KeyRing } from '../auth/api-keys.ts';
import { requireUnrestricted } from '../auth/authorize.ts';
import type { Scope } from '../auth/scopes.ts';
import { type Clock, timestamp } from '../core/clock.ts';
import { NotFound } from '../core/errors.ts';
import type { Ids } from '../core/ids.ts';
import type { Logger } from '../core/logger.ts';
import type { EventBus } from '../events/bus.ts';
import type { Key, KeyCreate, KeyCreated } from '../schemas/keys.ts';
import type { ApiKey, ApiKeyRepository } from '../storage/access/api-keys.ts';

const DAY_MS = 24 * 60 * 60_000;

export interface KeyDeps {
  readonly apiKeys: Pick<ApiKeyRepository, 'insert' | 'list' | 'revoke'>;
  /** Keys that this process knows: a revoked one must not stay valid here. */
  readonly ring: Pick<KeyRing, 'forget'>;
  readonly bus: Pick<EventBus, 'emit'>;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly logger: Logger;
}

export type KeyService = ReturnType<typeof keyService>;

/**
 * API keys that are created while servers run. A key gives access to everything, so that only callers whose access is
 * not limited themselves manage keys: the methods throw `Forbidden` for users and tokens.
 */
export function keyService({ apiKeys, ring, bus, clock, ids, logger }: KeyDeps) {
  return {
    /** The secret is only in this result. */
    async create(actor: Actor, { name, scope, expires_in_days }: KeyCreate): Promise<KeyCreated> {
      requireUnrestricted(actor, 'API keys');
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

    /** Oldest first, with those that are revoked or have expired. */
    async list(actor: Actor): Promise<Key[]> {
      requireUnrestricted(actor, 'API keys');
      return (await apiKeys.list()).map(publicKey);
    },

    /**
     * Rejected at once in this process, and within a second in others; so are the tokens that were created with it.
     * Throws `NotFound` if there is no such key, or if it is revoked already.
     */
    async revoke(actor: Actor, key_id: string): Promise<void> {
      requireUnrestricted(actor, 'API keys');
      if (!(await apiKeys.revoke(key_id, timestamp(clock.now()))))
        throw new NotFound(`there is no key ${key_id}, or it is already revoked`);
      ring.forget(key_id);
      bus.emit('row.changed', 'key', key_id);
      logger.info('API key revoked', { key_id, by_key: actor.key });
    },
  };
}

function publicKey({ digest: _digest, scope, ...key }: ApiKey): Key {
  return { ...key, scope: scope as Scope };
}

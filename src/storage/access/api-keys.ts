import { columns } from '../../db/columns.ts';
import type { Db } from '../../db/db.ts';
import { sql } from '../../db/sql.ts';

/** A key created by `agent-server keys create`. Times are ISO-8601. */
export interface ApiKey {
  readonly key_id: string;
  readonly name: string;
  /** SHA-256 of the key: with 256 random bits it needs no slow hash. */
  readonly digest: string;
  readonly scope: string;
  readonly created_at: string;
  readonly expires_at: string | null;
  readonly revoked_at: string | null;
  readonly last_used_at: string | null;
}

/** What authentication needs of stored keys. */
export type KeyLookup = Pick<ApiKeyRepository, 'findByDigest' | 'get' | 'recordUse'>;

export type ApiKeyRepository = ReturnType<typeof apiKeyRepository>;

const COLUMNS = columns(
  'api_keys',
  'key_id, name, digest, scope, created_at, expires_at, revoked_at, last_used_at',
);

export function apiKeyRepository(db: Db) {
  return {
    async insert(key: ApiKey): Promise<void> {
      await db.run(sql`insert into api_keys (${COLUMNS}) values (${key.key_id}, ${key.name}, ${key.digest},
        ${key.scope}, ${key.created_at}, ${key.expires_at}, ${key.revoked_at}, ${key.last_used_at})`);
    },

    findByDigest(digest: string): Promise<ApiKey | undefined> {
      return db.get(sql`select ${COLUMNS} from api_keys where digest = ${digest}`);
    },

    get(key_id: string): Promise<ApiKey | undefined> {
      return db.get(sql`select ${COLUMNS} from api_keys where key_id = ${key_id}`);
    },

    /** Oldest first. */
    list(): Promise<ApiKey[]> {
      return db.all(sql`select ${COLUMNS} from api_keys order by created_at, key_id`);
    },

    /** Returns `false` if the key does not exist or is already revoked. */
    async revoke(key_id: string, at: string): Promise<boolean> {
      const changed = await db.run(
        sql`update api_keys set revoked_at = ${at} where key_id = ${key_id} and revoked_at is null`,
      );
      return changed > 0;
    },

    async recordUse(key_id: string, at: string): Promise<void> {
      await db.run(sql`update api_keys set last_used_at = ${at} where key_id = ${key_id}`, 'async');
    },
  };
}

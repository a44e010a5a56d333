import { columns } from '../../db/columns.ts';
import type { Db } from '../../db/db.ts';
import { type RowOf, sql } from '../../db/sql.ts';
import { NOW } from '../../db/time.ts';

/** Its encryption context. */
export const SECRET_COLUMN = 'server_secrets.secret';

export type ServerSecretRepository = ReturnType<typeof serverSecretRepository>;

/** Signing secrets, one per purpose, and the sessions signed with them that were revoked before they expire. */
export function serverSecretRepository(db: Db) {
  return {
    /** Returns the named secret, inserting `fresh` if there is none. Concurrent inserts: the first one wins. */
    async getOrCreate(name: string, fresh: string): Promise<string> {
      const named = sql`select ${columns('server_secrets', 'secret')} from server_secrets where name = ${name}`;
      const stored = await db.get(named);
      if (stored) return db.cipher.decryptText(SECRET_COLUMN, stored.secret);
      return db.transaction('sync', async (tx) => {
        await tx.run(sql`
          insert into server_secrets (name, secret, created_at) values (${name}, ${tx.cipher.encryptText(SECRET_COLUMN, fresh)}, ${NOW})
          on conflict (name) do nothing`);
        const row = (await tx.get(named)) as RowOf<typeof named>;
        return tx.cipher.decryptText(SECRET_COLUMN, row.secret);
      });
    },

    /** `expires_at`: ISO-8601; the session is forgotten after it. */
    revokeSession(session_id: string, expires_at: string): Promise<void> {
      return db.transaction('sync', async (tx) => {
        await tx.run(sql`delete from revoked_sessions where expires_at < ${NOW}`);
        await tx.run(sql`insert into revoked_sessions (session_id, expires_at) values (${session_id}, ${expires_at})
          on conflict (session_id) do nothing`);
      });
    },

    async isSessionRevoked(session_id: string): Promise<boolean> {
      const row = await db.get(sql`select 1 from revoked_sessions where session_id = ${session_id}`);
      return row !== undefined;
    },
  };
}

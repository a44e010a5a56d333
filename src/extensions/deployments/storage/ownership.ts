import { Unavailable } from '../../../core/errors.ts';
import { number } from '../../../db/columns.ts';
import type { Db, Transaction } from '../../../db/db.ts';
import { type DialectSql, raw, sql } from '../../../db/sql.ts';

/** A new owner waits for the transactions of the previous one. */
const FOR_SHARE: DialectSql = { sqlite: raw(''), postgres: raw('for share') };

/** Transactions of the process that owns the deployments of a database. */
export type Ownership = ReturnType<typeof ownership>;

/**
 * Fences the work on deployments: a process that lost them, and has not noticed, changes nothing any more.
 * Nothing is owned before `take`.
 */
export function ownership(db: Db) {
  let token: string | undefined;
  return {
    /** Takes the deployments from whichever process had them; `work` is part of the same transaction. */
    take: <T>(fresh: string, work: (tx: Transaction) => Promise<T>): Promise<T> =>
      db.transaction('sync', async (tx) => {
        token = fresh;
        await tx.run(sql`
          insert into deployment_owner (name, token) values ('deployments', ${fresh})
          on conflict (name) do update set token = excluded.token`);
        return work(tx);
      }),

    /** A transaction of the owner. Throws `Unavailable`, with nothing changed, if another process has taken over. */
    transaction: <T>(work: (tx: Transaction) => Promise<T>): Promise<T> =>
      db.transaction('sync', async (tx) => {
        const owned =
          token !== undefined &&
          (await tx.get(
            sql`select 1 as ${number('owned')} from deployment_owner where token = ${token} ${FOR_SHARE}`,
          ));
        if (owned) return work(tx);
        throw new Unavailable(
          'This process no longer serves the deployments of this database. Send the request to the one that does.',
        );
      }),
  };
}

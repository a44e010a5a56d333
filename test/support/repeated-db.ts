import type { Db, Transaction } from '../../src/db/db.ts';

const FIRST_TIME = new Error('the first time is rolled back');

/** A database that runs the body of each transaction twice, as it may; the first time is rolled back. */
export function repeatedDb(db: Db): Db {
  return Object.assign(Object.create(db), {
    async transaction<T>(...[durability, body]: Parameters<typeof db.transaction<T>>): Promise<T> {
      const rolledBack = db.transaction(durability, async (tx: Transaction) => {
        await body(tx);
        throw FIRST_TIME;
      });
      await rolledBack.catch((error: unknown) => {
        if (error !== FIRST_TIME) throw error;
      });
      return db.transaction(durability, body);
    },
  });
}

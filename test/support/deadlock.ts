import type { Db, Transaction } from '../../src/db/db.ts';

/** Two transactions lock two rows in opposite order, each its second when both have their first. */
export async function deadlock(
  db: Db,
  [one, other]: readonly [number, number],
  lock: (tx: Transaction, id: number) => Promise<unknown>,
): Promise<void> {
  const both = Promise.withResolvers<void>();
  let begun = 0;
  const lockBoth = (first: number, second: number) =>
    db.transaction('sync', async (tx) => {
      await lock(tx, first);
      if (++begun === 2) both.resolve();
      await both.promise;
      await lock(tx, second);
    });
  await Promise.all([lockBoth(one, other), lockBoth(other, one)]);
}

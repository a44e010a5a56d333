import { expect, test } from 'vitest';
import { sql } from '../../src/db/sql.ts';
import { storageBytes } from '../../src/storage/overview.ts';
import { describeEachDatabase } from '../support/databases.ts';

describeEachDatabase('the size of the database', (open) => {
  test('grows with the data', async () => {
    await using db = await open();
    const before = await storageBytes(db);
    await db.run(sql`create table large (value text)`);
    // What is compressed or repeated would not count in full.
    const value = Array.from({ length: 4000 }, (_, n) => (n * 2654435761).toString(36)).join('');
    for (let row = 0; row < 40; row++) await db.run(sql`insert into large values (${`${row}${value}`})`);

    expect(before).toBeGreaterThan(100_000);
    expect(await storageBytes(db)).toBeGreaterThan(before + 500_000);
  });
});

import { nullable, number } from '../../../db/columns.ts';
import type { Reader, Transaction } from '../../../db/db.ts';
import { type DialectSql, raw, sql } from '../../../db/sql.ts';
import type { CopiedTable } from './tables.ts';

/** The last number that the database gave to a row of the table; 0 if none. Numbers are never given twice. */
export async function lastNumber(reader: Reader, { name, identity }: CopiedTable): Promise<number> {
  if (identity === undefined) return 0;
  const last: DialectSql = {
    sqlite: sql`select max(seq) from sqlite_sequence where name = ${name}`,
    postgres: sql`select pg_sequence_last_value(pg_get_serial_sequence(${name}, ${identity}))`,
  };
  const highest = raw(`(select max(${identity}) from ${name})`);
  const row = await reader.get(
    sql`select (${last}) as ${nullable(number('given'))}, ${highest} as ${nullable(number('present'))}`,
  );
  return Math.max(row?.given ?? 0, row?.present ?? 0);
}

/** Continues after `last`: the next row gets the number behind it. */
export async function continueAfter(
  tx: Transaction,
  { name, identity }: CopiedTable,
  last: number,
): Promise<void> {
  if (identity === undefined || last === 0) return;
  if (tx.dialect === 'postgres') {
    await tx.get(sql`select setval(pg_get_serial_sequence(${name}, ${identity}), ${last}::bigint)`);
    return;
  }
  await tx.run(sql`delete from sqlite_sequence where name = ${name}`);
  await tx.run(sql`insert into sqlite_sequence (name, seq) values (${name}, ${last})`);
}

import type { Db } from '../../src/db/db.ts';
import { raw, sql } from '../../src/db/sql.ts';

/** Puts a value into a column that was sealed for another. */
export async function tamper(db: Db, column: `${string}.${string}`, key: string, id: string): Promise<void> {
  const [table, name] = column.split('.') as [string, string];
  const other = db.cipher.encryptText('another.column', 'x');
  const value = column === 'webhook_outbox.body' ? other : `"${other}"`;
  await db.run(sql`update ${raw(table)} set ${raw(name)} = ${value} where ${raw(key)} = ${id}`);
}

import { number } from '../db/columns.ts';
import type { Db } from '../db/db.ts';
import { type DialectSql, sql } from '../db/sql.ts';

/** SQLite counts its pages; PostgreSQL adds up the files of this schema's tables, indexes and large values. */
const BYTES: DialectSql = {
  sqlite: sql`(select p.page_size * c.page_count from pragma_page_size p, pragma_page_count c)`,
  postgres: sql`(
    select coalesce(sum(pg_total_relation_size(oid)), 0)::bigint from pg_class
    where relnamespace = current_schema()::regnamespace and relkind in ('r', 'p'))`,
};

/** Size of the stored data on disk, bytes; without the write-ahead log. */
export async function storageBytes(db: Db): Promise<number> {
  const row = await db.get(sql`select ${BYTES} as ${number('bytes')}`);
  return row?.bytes ?? 0;
}

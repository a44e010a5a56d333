import { type DialectSql, raw } from './sql.ts';

/** Ends a select: holds its rows until the transaction ends. SQLite has a single writer and no row locks. */
export const FOR_UPDATE: DialectSql = { sqlite: raw(''), postgres: raw('for update') };

/** The same for rows that no other transaction holds; the others are left out. */
export const SKIP_LOCKED: DialectSql = { sqlite: raw(''), postgres: raw('for update skip locked') };

import type { Db, Reader } from '../../src/db/db.ts';
import { raw, type Sql, sql } from '../../src/db/sql.ts';

/** A reader that notes how the database would answer each query, and has it answered. */
export function explaining(db: Db): Reader & { readonly plans: string[] } {
  const plans: string[] = [];
  async function explain(query: Sql): Promise<void> {
    const words = raw(db.dialect === 'sqlite' ? 'explain query plan' : 'explain');
    const lines = (await db.all(sql`${words} ${query}`)) as Record<string, string>[];
    plans.push(lines.map((line) => line['detail'] ?? line['QUERY PLAN']).join('\n'));
  }
  return {
    dialect: db.dialect,
    cipher: db.cipher,
    plans,
    async all<Row>(query: Sql<Row>) {
      await explain(query);
      return db.all(query);
    },
    async get<Row>(query: Sql<Row>) {
      await explain(query);
      return db.get(query);
    },
  };
}

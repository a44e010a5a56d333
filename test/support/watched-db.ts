import type { Db } from '../../src/db/db.ts';
import { render, type Sql } from '../../src/db/sql.ts';

/** A database that notes the text of each statement that reads, and of those that transactions execute. */
export function watchedDb(db: Db): {
  readonly watched: Db;
  readonly reads: string[];
  readonly writes: string[];
} {
  const reads: string[] = [];
  const writes: string[] = [];
  const note = (query: Sql) => void reads.push(render(query, db.dialect).text);
  const watched: Db = Object.assign(Object.create(db), {
    all(query: Sql) {
      note(query);
      return db.all(query);
    },
    get(query: Sql) {
      note(query);
      return db.get(query);
    },
    transaction<T>(...[durability, body]: Parameters<typeof db.transaction<T>>): Promise<T> {
      return db.transaction(durability, (tx) => {
        const run = (query: Sql) => {
          writes.push(render(query, db.dialect).text);
          return tx.run(query);
        };
        const own = { run, all: tx.all.bind(tx), get: tx.get.bind(tx), defer: tx.defer.bind(tx) };
        return body({ ...own, dialect: tx.dialect, cipher: tx.cipher });
      });
    },
  });
  return { watched, reads, writes };
}

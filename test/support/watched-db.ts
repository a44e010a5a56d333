import type { Db } from '../../src/db/db.ts';
import { render, type Sql } from '../../src/db/sql.ts';

/** A database that notes the text of each statement that reads. */
export function watchedDb(db: Db): { readonly watched: Db; readonly reads: string[] } {
  const reads: string[] = [];
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
  });
  return { watched, reads };
}

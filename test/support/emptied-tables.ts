import type { Db, Reader } from '../../src/db/db.ts';
import { render, type Sql } from '../../src/db/sql.ts';

/**
 * Empties the tables of a PostgreSQL schema that have rows, and restarts their numbers: a millisecond a table. To drop
 * and create all of them takes PGlite 250 ms of CPU, and a server as long.
 */
export const EMPTY_TABLES = `do $$ declare names text; begin
  select string_agg(format('%I', relname), ', ') into names from pg_class
  where relnamespace = current_schema()::regnamespace and relkind = 'r' and relname not in ('schema_migrations', 'extension_migrations')
    and pg_relation_size(oid) > 0;
  if names is not null then execute 'truncate ' || names || ' restart identity cascade'; end if;
end $$`;

const CHANGES_ROWS = /^\s*(select|insert|update|delete|with|explain)\b/i;
const CHANGES_VERSION = /^\s*(insert into|update|delete from) (schema|extension)_migrations\b/i;

/** Calls `onChange` at a statement on PostgreSQL whose effect outlasts the rows: on tables, or on statistics of them. */
export function watchingSchema(db: Db, onChange: () => void): Db {
  const watch = ({ text }: { readonly text: string }) => {
    if (!CHANGES_ROWS.test(text) || CHANGES_VERSION.test(text)) onChange();
  };
  const watched = <Result>(execute: (query: Sql<never>, ...rest: never[]) => Result) => {
    return (query: Sql<never>, ...rest: never[]) => {
      watch(render(query, 'postgres'));
      return execute(query, ...rest);
    };
  };
  const reading = ({ all, get }: Reader) =>
    ({ all: watched(all), get: watched(get) }) as Pick<Reader, 'all' | 'get'>;
  return {
    ...db,
    ...reading(db),
    run: watched(db.run) as Db['run'],
    transaction: (durability, body) =>
      db.transaction(durability, (tx) =>
        body({
          ...tx,
          ...reading(tx),
          run: watched(tx.run) as typeof tx.run,
          defer: watched(tx.defer) as typeof tx.defer,
        }),
      ),
  };
}

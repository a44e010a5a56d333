import type { DialectName } from '../sql.ts';

/**
 * Containment index on a JSON column (`search/`): statements for a migration, after the table exists. On SQLite the
 * table begins with `{row_id}`, and triggers maintain the rows of `<table>_<column>_terms` in the same transaction;
 * PostgreSQL has GIN. An empty object costs nothing on either; rewriting an unchanged one costs nothing on SQLite.
 */
export function containmentIndex(table: string, column = 'metadata'): Record<DialectName, string> {
  return { sqlite: sqliteIndex(table, column), postgres: postgresIndex(table, column) };
}

/** A statement ends with `;` at the end of a line; those inside a trigger do not. */
function sqliteIndex(table: string, column: string): string {
  const terms = `${table}_${column}_terms`;
  const added = (one: string, other: string) =>
    `insert into ${terms} select value, new.row_id from json_each(json_terms(${one}, ${other}))`;
  const removed = (one: string, other: string) =>
    `delete from ${terms} where row_id = old.row_id
      and term in (select value from json_each(json_terms(${one}, ${other})))`;
  return `
create table ${terms} (
  term integer not null,
  row_id integer not null,
  primary key (term, row_id)
) strict, without rowid;
create trigger ${terms}_insert after insert on ${table} when new.${column} <> '{}'
  begin ${added(`new.${column}`, "'{}'")}; end;
create trigger ${terms}_update after update of ${column} on ${table} when old.${column} <> new.${column}
  begin ${removed(`old.${column}`, `new.${column}`)}; ${added(`new.${column}`, `old.${column}`)}; end;
create trigger ${terms}_delete after delete on ${table} when old.${column} <> '{}'
  begin ${removed(`old.${column}`, "'{}'")}; end;
insert into ${terms}
  select value, ${table}.row_id from ${table}, json_each(json_terms(${table}.${column}, '{}'));
`;
}

/**
 * Limits GIN's pending list of recent entries, which every search scans: at its default size it would cost a search
 * more than the rest of the index.
 */
function postgresIndex(table: string, column: string): string {
  return `
create index ${table}_${column} on ${table} using gin (${column} jsonb_path_ops)
  with (gin_pending_list_limit = 256) where ${column} <> '{}';
`;
}

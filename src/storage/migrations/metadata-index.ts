import type { DialectName } from '../sql.ts';

/**
 * The index that answers which rows of a table have metadata that contains something (`search/`): statements for a
 * migration, after the table is there. On SQLite the table begins with `{row_id}`, and rows of `<table>_terms` follow
 * its metadata by triggers, in the same transaction; PostgreSQL has an index for it. Empty metadata costs nothing on
 * either, and metadata that is written unchanged nothing on SQLite.
 */
export function metadataIndex(table: string): Record<DialectName, string> {
  return { sqlite: sqliteIndex(table), postgres: postgresIndex(table) };
}

/** A statement ends with `;` at the end of a line: those inside of a trigger do not. */
function sqliteIndex(table: string): string {
  const terms = `${table}_terms`;
  const added = (one: string, other: string) =>
    `insert into ${terms} select value, new.row_id from json_each(metadata_terms(${one}, ${other}))`;
  const removed = (one: string, other: string) =>
    `delete from ${terms} where row_id = old.row_id
      and term in (select value from json_each(metadata_terms(${one}, ${other})))`;
  return `
create table ${terms} (
  term integer not null,
  row_id integer not null,
  primary key (term, row_id)
) strict, without rowid;
create trigger ${terms}_insert after insert on ${table} when new.metadata <> '{}'
  begin ${added('new.metadata', "'{}'")}; end;
create trigger ${terms}_update after update of metadata on ${table} when old.metadata <> new.metadata
  begin ${removed('old.metadata', 'new.metadata')}; ${added('new.metadata', 'old.metadata')}; end;
create trigger ${terms}_delete after delete on ${table} when old.metadata <> '{}'
  begin ${removed('old.metadata', "'{}'")}; end;
insert into ${terms}
  select value, ${table}.row_id from ${table}, json_each(metadata_terms(${table}.metadata, '{}'));
`;
}

/**
 * What was added lately waits in a list that every search reads: as long as the default has it, it would cost a search
 * more than the rest of the index.
 */
function postgresIndex(table: string): string {
  return `
create index ${table}_metadata on ${table} using gin (metadata jsonb_path_ops)
  with (gin_pending_list_limit = 256) where metadata <> '{}';
`;
}

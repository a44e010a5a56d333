import { columns, number, text } from './columns.ts';
import type { Reader } from './db.ts';
import { migrations } from './migrations/index.ts';
import { type DialectSql, raw, sql } from './sql.ts';

/** A column of a table as the database describes it. */
export interface ColumnSchema {
  readonly name: string;
  /** The engine's name of its type, in lower case, such as `text` or `timestamp with time zone`. */
  readonly type: string;
}

/** A table of ours as the database describes it. */
export interface TableSchema {
  readonly name: string;
  readonly columns: readonly ColumnSchema[];
  /**
   * Columns that identify a row, without the `row_id` that only SQLite has. A table without such columns has those of
   * its foreign key, which several rows may share.
   */
  readonly key: readonly string[];
  /** The column that the database numbers, if there is one. */
  readonly identity: string | undefined;
  /** Tables that its foreign keys name. */
  readonly parents: readonly string[];
}

/** The newest schema version that this program knows. */
export const NEWEST_VERSION = migrations.at(-1)?.version ?? 0;

/** Whether the database has a table of this name; on PostgreSQL as seen from the search path. */
export async function hasTable(reader: Reader, name: string): Promise<boolean> {
  const tables: DialectSql = {
    sqlite: sql`select 1 from sqlite_master where type = 'table' and name = ${name}`,
    postgres: sql`select 1 where to_regclass(${name}) is not null`,
  };
  return (await reader.get(sql`${tables}`)) !== undefined;
}

/** The schema version of the database; 0 for an empty database. */
export async function schemaVersion(reader: Reader): Promise<number> {
  if (!(await hasTable(reader, 'schema_migrations'))) return 0;
  const row = await reader.get(
    sql`select coalesce(max(version), 0) as ${number('version')} from schema_migrations`,
  );
  return row?.version ?? 0;
}

/** The version of each extension that has tables in the database. */
export async function extensionVersions(reader: Reader): Promise<Map<string, number>> {
  if (!(await hasTable(reader, 'extension_migrations'))) return new Map();
  const rows = await reader.all(sql`
    select ${columns('extension_migrations', 'extension')}, max(version) as ${number('version')}
    from extension_migrations group by extension`);
  return new Map(rows.map(({ extension, version }) => [extension, version]));
}

/** Shadow tables of the full-text index, tables of SQLite itself, and partitions do not count. */
const TABLES: DialectSql = {
  sqlite:
    raw(`(select name, sql from sqlite_master where type = 'table' and name not like 'sqlite\\_%' escape '\\'
    and sql not like 'create virtual%' and name not like 'store\\_words%' escape '\\') t`),
  postgres: raw(`(select relname as name, oid from pg_class
    where relnamespace = (select oid from pg_namespace where nspname = current_schema())
    and relkind in ('r', 'p') and not relispartition) t`),
};

const COLUMNS: DialectSql = {
  sqlite: raw(`select t.name as owner, p.name as name, lower(p.type) as type,
      case when p.pk > 0 and t.sql like '%autoincrement%' then 'yes' else 'no' end as numbered
    from ${TABLES.sqlite.strings[0]}, pragma_table_info(t.name) p order by t.name, p.cid`),
  postgres: raw(`select t.name as owner, attname as name, format_type(atttypid, null) as type,
      case when attidentity <> '' then 'yes' else 'no' end as numbered
    from ${TABLES.postgres.strings[0]} join pg_attribute on attrelid = t.oid
    where attnum > 0 and not attisdropped order by t.name, attnum`),
};

/** Columns of unique indexes over columns that are never null, the primary key first. */
const KEYS: DialectSql = {
  sqlite: raw(`select t.name as owner, i.name as key_name, c.name as name
    from ${TABLES.sqlite.strings[0]}, pragma_index_list(t.name) i, pragma_index_info(i.name) c
    where i."unique" and not i.partial and i.origin <> 'c' order by t.name, i.origin <> 'pk', i.seq, c.seqno`),
  postgres: raw(`select t.name as owner, conname as key_name, attname as name
    from ${TABLES.postgres.strings[0]} join pg_constraint on conrelid = t.oid and contype = 'p'
    cross join unnest(conkey) with ordinality as k (attnum, place)
    join pg_attribute a on a.attrelid = t.oid and a.attnum = k.attnum order by t.name, place`),
};

const PARENTS: DialectSql = {
  sqlite: raw(`select t.name as owner, f."table" as name, f."from" as via
    from ${TABLES.sqlite.strings[0]}, pragma_foreign_key_list(t.name) f`),
  postgres: raw(`select t.name as owner, p.relname as name, attname as via
    from ${TABLES.postgres.strings[0]} join pg_constraint c on conrelid = t.oid and contype = 'f'
    join pg_class p on p.oid = c.confrelid
    join pg_attribute a on a.attrelid = t.oid and a.attnum = c.conkey[1]`),
};

/** Our tables, by name. */
export async function readSchema(reader: Reader): Promise<Map<string, TableSchema>> {
  const found = await reader.all(sql`select ${text('owner')}, ${text('name')}, ${text('type')},
    ${text('numbered', 'yes', 'no')} from (${COLUMNS}) c`);
  const keys = await reader.all(
    sql`select ${text('owner')}, ${text('key_name')}, ${text('name')} from (${KEYS}) k`,
  );
  const parents = await reader.all(
    sql`select ${text('owner')}, ${text('name')}, ${text('via')} from (${PARENTS}) p`,
  );
  const tables = [...Map.groupBy(found, ({ owner }) => owner)].map(([name, its]): TableSchema => {
    const identity = its.find(({ numbered }) => numbered === 'yes')?.name;
    const [first] = Map.groupBy(
      keys.filter(({ owner }) => owner === name),
      ({ key_name }) => key_name,
    ).values();
    const foreign = parents.filter(({ owner }) => owner === name);
    return {
      name,
      columns: its.map(({ name: column, type }) => ({ name: column, type })),
      key: identity ? [identity] : (first ?? []).map((row) => row.name).concat(first ? [] : keyOf(foreign)),
      identity,
      parents: [...new Set(foreign.map((each) => each.name))].filter((parent) => parent !== name),
    };
  });
  return new Map(tables.map((table) => [table.name, table]));
}

function keyOf(foreign: readonly { readonly via: string }[]): string[] {
  return foreign.slice(0, 1).map(({ via }) => via);
}

/** Applied migrations with their times: a database keeps them for good, so they tell it from every other. */
export async function migrationTimes(reader: Reader): Promise<string> {
  const rows = await reader.all(
    sql`select ${columns('schema_migrations', 'version, applied_at')} from schema_migrations order by version`,
  );
  return JSON.stringify(rows.map(({ version, applied_at }) => [version, applied_at]));
}

import type { Db } from '../../src/db/db.ts';
import { type DialectName, type DialectSql, raw, sql } from '../../src/db/sql.ts';

/** A column of the migrated schema. */
export interface Column {
  readonly table: string;
  readonly name: string;
  /** The engine's name of its type, in lower case. */
  readonly type: string;
  readonly nullable: 0 | 1;
  /** PostgreSQL only: the definition of the constraint on this column alone, if it has one. */
  readonly check: string | null;
}

/** In SQLite, `strict` columns of a primary key are never null, whatever `notnull` says. */
const COLUMNS: DialectSql = {
  sqlite: raw(`select m.name as "table", p.name, lower(p.type) as type, not (p."notnull" or p.pk) as nullable,
      null as "check"
    from sqlite_master m, pragma_table_info(m.name) p where m.type = 'table'`),
  postgres: raw(`select table_name as "table", column_name as name, data_type as type,
      is_nullable = 'YES' as nullable, (
        select pg_get_constraintdef(oid) from pg_constraint where contype = 'c'
          and conrelid = table_name::regclass and conkey = array[ordinal_position::int2]) as "check"
    from information_schema.columns where table_schema = current_schema() order by table_name, ordinal_position`),
};

/** On PostgreSQL in the order of the tables' names and, in each, in the order of the columns. */
export async function columnsOf(db: Db): Promise<Column[]> {
  return (await db.all(sql`${COLUMNS}`)) as Column[];
}

interface TypeNames extends Record<DialectName, string> {
  /** The type of its values in TypeScript, as both engines return them. */
  readonly typescript: string;
}

/** The types that migrations declare columns with. */
const TYPES: readonly TypeNames[] = [
  { sqlite: 'text', postgres: 'text', typescript: 'string' },
  { sqlite: 'text', postgres: 'uuid', typescript: 'Uuid' },
  { sqlite: 'text', postgres: 'timestamp with time zone', typescript: 'Timestamp' },
  { sqlite: 'text', postgres: 'json', typescript: 'JsonText' },
  { sqlite: 'text', postgres: 'jsonb', typescript: 'JsonText' },
  { sqlite: 'integer', postgres: 'integer', typescript: 'number' },
  { sqlite: 'integer', postgres: 'bigint', typescript: 'number' },
  { sqlite: 'real', postgres: 'double precision', typescript: 'number' },
  { sqlite: 'blob', postgres: 'bytea', typescript: 'Uint8Array' },
];

/** A column as each engine has it. */
type Both = Readonly<Record<DialectName, Column>>;

/** The columns that both engines have, in the order of PostgreSQL. */
export function commonColumns(sqlite: readonly Column[], postgres: readonly Column[]): Both[] {
  const byName = new Map(sqlite.map((column) => [`${column.table}.${column.name}`, column]));
  return postgres.flatMap((column) => {
    const other = byName.get(`${column.table}.${column.name}`);
    return other ? [{ sqlite: other, postgres: column }] : [];
  });
}

/** Columns whose values would not be the same on both engines, as text. */
export function disagreements(columns: readonly Both[]): string[] {
  return columns
    .filter((column) => !typeOf(column) || column.sqlite.nullable !== column.postgres.nullable)
    .map(({ sqlite, postgres }) => `${sqlite.table}.${sqlite.name}: ${said(sqlite)}, but ${said(postgres)}`);
}

function said({ type, nullable }: Column): string {
  return nullable ? `${type} or null` : type;
}

function typeOf({ sqlite, postgres }: Both): TypeNames | undefined {
  return TYPES.find((type) => type.sqlite === sqlite.type && type.postgres === postgres.type);
}

const NOTE = `/*
 * Generated from the migrations. Do not edit it, but write it anew after a migration:
 * npx vitest run test/storage/tables.test.ts -u
 */
`;

const TYPES_OF_COLUMNS = [
  ['JsonText', ''],
  ['Uuid', 'type Uuid = string;\n'],
  ['Timestamp', '/** ISO-8601, in UTC with milliseconds. */\ntype Timestamp = string;\n'],
] as const;

/** The text of `src/db/tables.ts`. */
export function tablesSource(columns: readonly Both[]): string {
  return `import type { JsonText } from './json.ts';

${NOTE}
${typesIn('Uuid Timestamp')}
/** The rows of each table as both engines return them; without the few columns that only one of them has. */
export interface Tables {
${tableTypes(columns)}}
`;
}

/** The text of `tables.ts` in the folder of an extension. */
export function extensionTablesSource(columns: readonly Both[]): string {
  const members = tableTypes(columns).replace(/^(?=.)/gm, '  ');
  const json = members.includes('JsonText') ? "import type { JsonText } from '../../db/json.ts';\n\n" : '';
  return `${json}${NOTE}
${typesIn(members)}
declare module '../../db/tables.ts' {
  interface Tables {
${members}  }
}
`;
}

/** Declarations of the types that a text names. */
function typesIn(text: string): string {
  return TYPES_OF_COLUMNS.map(([name, declaration]) => (text.includes(name) ? declaration : '')).join('');
}

function tableTypes(columns: readonly Both[]): string {
  const tables = Map.groupBy(columns, ({ postgres }) => postgres.table);
  return [...tables].map(([table, its]) => tableType(table, its.map(member))).join('');
}

const LINE_WIDTH = 110;

/** As the formatter leaves it: on one line, if it fits. */
function tableType(table: string, members: readonly string[]): string {
  const line = `  ${table}: { ${members.join(' ').slice(0, -1)} };\n`;
  if (line.length <= LINE_WIDTH) return line;
  return `  ${table}: {\n${members.map((each) => `    ${each}\n`).join('')}  };\n`;
}

function member(column: Both): string {
  const { name, nullable, check } = column.postgres;
  const type = allowedTexts(check) ?? typeOf(column)?.typescript;
  return `${name}: ${type}${nullable ? ' | null' : ''};`;
}

/** Of `check (state in ('ready', 'running'))`, as PostgreSQL repeats it, the texts as a union. */
function allowedTexts(check: string | null): string | undefined {
  const list = check?.match(/^CHECK \(\(\w+ = ANY \(ARRAY\[(.*)\]\)\)\)$/)?.[1];
  return list?.replaceAll('::text', '').split(', ').join(' | ');
}

import type { ColumnSchema, TableSchema } from '../../../db/schema.ts';
import type { SqlValue } from '../../../db/sql.ts';

/** How a value crosses from one engine to the other. `searched`: JSON that PostgreSQL reorders (jsonb). */
export type ValueKind = 'plain' | 'searched' | 'bytes';

export interface CopiedColumn {
  readonly name: string;
  readonly kind: ValueKind;
}

/** A table that both databases have, with the columns that both have. */
export interface CopiedTable {
  readonly name: string;
  readonly columns: readonly CopiedColumn[];
  /** Order of reading; several rows may share a key. */
  readonly key: readonly string[];
  readonly identity: string | undefined;
}

/** A row as both engines return it. */
export type Row = Readonly<Record<string, SqlValue>>;

export type Schema = ReadonlyMap<string, TableSchema>;

/** Each database keeps its own. */
const NOT_COPIED = ['schema_migrations', 'extension_migrations', 'copy_progress'];

/** Tables that triggers of SQLite fill, also as rows are copied. */
const DERIVED = /_terms$/;

/** Types of columns that hold data; others are indexes that PostgreSQL keeps in the row (`tsvector`, pgvector). */
const DATA_TYPES =
  /^(text|uuid|json|jsonb|integer|bigint|real|double precision|blob|bytea|timestamp with time zone)$/;

/**
 * What to copy between two databases of one schema version, parents before the tables that reference them: read from
 * the schemas, so that a new table or column needs no change here. What only one engine has is derived from the rest:
 * the database builds its indexes itself, and `write.ts` the words of the store.
 */
export function copiedTables(from: Schema, to: Schema): CopiedTable[] {
  const common = [...from.values()].flatMap((table) => {
    const other = to.get(table.name);
    const isOwn = !NOT_COPIED.includes(table.name) && !DERIVED.test(table.name);
    return other && isOwn ? [copiedTable(table, other)] : [];
  });
  return parentsFirst(common, to);
}

function copiedTable({ name, key, columns }: TableSchema, to: TableSchema): CopiedTable {
  const common = columns.flatMap((column) => {
    const other = to.columns.find((each) => each.name === column.name);
    return other && isData(column) && isData(other) && column.name !== 'row_id'
      ? [{ name: column.name, kind: kindOf(column, other) }]
      : [];
  });
  return { name, columns: common, key, identity: to.identity };
}

function isData({ type }: ColumnSchema): boolean {
  return DATA_TYPES.test(type);
}

function kindOf(one: ColumnSchema, other: ColumnSchema): ValueKind {
  if (one.type === 'jsonb' || other.type === 'jsonb') return 'searched';
  return one.type === 'bytea' || one.type === 'blob' ? 'bytes' : 'plain';
}

function parentsFirst(tables: readonly CopiedTable[], schema: Schema): CopiedTable[] {
  const sorted: CopiedTable[] = [];
  const add = (table: CopiedTable) => {
    if (sorted.includes(table)) return;
    for (const parent of schema.get(table.name)?.parents ?? []) {
      const found = tables.find(({ name }) => name === parent);
      if (found) add(found);
    }
    sorted.push(table);
  };
  for (const table of tables) add(table);
  return sorted;
}

import type { MetadataFilter } from '../metadata-filter.ts';
import type { DialectSql, Sql } from '../sql.ts';

/** What of a table is looked for. The table has an index on its metadata (`migrations/metadata-index.ts`). */
export interface TableFilter {
  readonly table: 'threads' | 'assistants' | 'crons';
  /** All that a row must be, metadata too, in the words of one statement. */
  readonly where: readonly (Sql | DialectSql)[];
  /** What `where` says of the metadata. */
  readonly metadata: MetadataFilter;
  /** Indexes of the table that can answer other parts of `where`: selects of `row_id`. Only SQLite needs to be told. */
  readonly narrowing: readonly Sql[];
}

/** A page of it. */
export interface TablePage extends TableFilter {
  /** The column of the ids, which tells rows apart that are equal otherwise. */
  readonly id: string;
  /** The first column of an index that has the id as its last, or the id itself. */
  readonly sort: Sql;
  readonly order: 'asc' | 'desc';
  readonly limit: number;
  readonly offset: number;
}

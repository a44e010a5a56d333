import type { MetadataFilter } from '../metadata-filter.ts';
import type { DialectSql, Sql } from '../sql.ts';

/** What of a table is looked for. */
export interface TableFilter {
  readonly table: 'threads' | 'assistants';
  /** All that a row must be, in the words of one statement. */
  readonly where: readonly (Sql | DialectSql)[];
  /**
   * What `where` says of columns that have an index for containment (`migrations/containment-index.ts`). Only SQLite
   * needs to be told, here and in the next.
   */
  readonly contained: readonly Contained[];
  /** Other indexes of the table that can answer a part of `where`: selects of `row_id`. */
  readonly narrowing: readonly Sql[];
}

export interface Contained {
  readonly column: 'metadata' | 'outline';
  readonly filter: MetadataFilter;
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

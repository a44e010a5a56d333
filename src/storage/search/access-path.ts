import { type JsonObject, toJson } from '../../core/json.ts';
import { number } from '../../db/columns.ts';
import { TOO_MANY, termsOf } from '../../db/containment-terms.ts';
import type { Reader } from '../../db/db.ts';
import type { MetadataFilter } from '../../db/metadata-filter.ts';
import { and, type DialectSql, list, or, raw, type Sql, sql } from '../../db/sql.ts';

/** Conditions of a search in one table. */
export interface TableFilter {
  readonly table: 'threads' | 'assistants';
  /** The complete condition, combined with `and`. */
  readonly where: readonly (Sql | DialectSql)[];
  /**
   * The part of `where` with a containment index (`migrations/containment-index.ts`). Only SQLite uses this and the
   * next field.
   */
  readonly contained: readonly ContainmentCondition[];
  /** Other indexes that can answer part of `where`: selects of `row_id`. */
  readonly row_id_queries: readonly Sql[];
  /** User data that `where` reads of each row. */
  readonly large: readonly Sql[];
}

export interface ContainmentCondition {
  readonly column: 'metadata' | 'values_summary';
  readonly filter: MetadataFilter;
}

/** What indexes can tell. */
export type IndexFilter = Pick<TableFilter, 'table' | 'contained' | 'row_id_queries'>;

/** A page of the search. */
export interface TablePage extends TableFilter {
  /** Id column, the tie-breaker of the sort. */
  readonly id: string;
  /** First column of an index that ends with the id, or the id itself. */
  readonly sort: Sql;
  readonly order: 'asc' | 'desc';
  readonly limit: number;
  readonly offset: number;
  /** The page begins after this row. */
  readonly after?: SortKey | undefined;
}

/** Where a row is in the order of a page. */
export interface SortKey {
  readonly sort: string;
  readonly id: string;
}

/** Candidate rows from a SQLite index, a superset of the matches. */
export interface AccessPath {
  /** A select of distinct `row_id`. */
  readonly rows: Sql;
  /** Number of rows, capped at the bound. */
  readonly size: number;
}

/**
 * The most selective access path, by counting each up to the bound; `undefined` if no index applies. SQLite keeps no
 * term statistics, so counting replaces them: some 10 µs per 1,000 rows.
 */
export async function mostSelectivePath(
  reader: Reader,
  { table, contained, row_id_queries }: IndexFilter,
  bound: number,
): Promise<AccessPath | undefined> {
  const paths: AccessPath[] = await Promise.all(
    row_id_queries.map(async (rows) => ({ rows, size: await boundedCount(reader, rows, bound) })),
  );
  for (const { column, filter } of contained) {
    const index = `${table}_${column}_terms`;
    const covering = await coverTerms(reader, index, filter, bound);
    if (covering) paths.push({ rows: rowsOf(index, covering.terms), size: covering.size });
  }
  return smallest(paths);
}

/** Index-only precondition: whether the row may match, without reading it. */
export function mayMatch({ table, contained }: IndexFilter): Sql {
  return and(
    contained.map(({ column, filter }) =>
      hasTerms(`${table}_${column}_terms`, raw(`${table}.row_id`), filter),
    ),
  );
}

/** Terms; every matching row has at least one of them. */
interface TermCover {
  readonly terms: readonly number[];
  readonly size: number;
}

async function coverTerms(
  reader: Reader,
  index: string,
  filter: MetadataFilter,
  bound: number,
): Promise<TermCover | undefined> {
  const of = (each: MetadataFilter) => coverTerms(reader, index, each, bound);
  if ('all' in filter) {
    return smallest((await Promise.all(filter.all.map(of))).filter((each) => each !== undefined));
  }
  if ('any' in filter) return unionCovers(await Promise.all(filter.any.map(of)), bound);
  const measured = searchTerms(filter.contains).map(async (terms) => {
    return { terms, size: await boundedCount(reader, rowsOf(index, terms), bound) };
  });
  return smallest(await Promise.all(measured));
}

function hasTerms(index: string, row_id: Sql, filter: MetadataFilter): Sql {
  if ('all' in filter) return and(filter.all.map((each) => hasTerms(index, row_id, each)));
  if ('any' in filter) return or(filter.any.map((each) => hasTerms(index, row_id, each)));
  return and(
    searchTerms(filter.contains).map(
      (terms) => sql`exists (select 1 from ${raw(index)} has where has.term in ${list(terms)}
        and has.row_id = ${row_id})`,
    ),
  );
}

/** For each term, the index entries under which rows that have it are stored. */
function searchTerms(contained: JsonObject): number[][] {
  const terms = [...termsOf(JSON.parse(toJson(contained)))].slice(0, MAX_PROBES);
  return terms.map((term) => (term === TOO_MANY ? [TOO_MANY] : [term, TOO_MANY]));
}

/** More probes per filter would cost more than they save. */
const MAX_PROBES = 8;

/** `undefined` if an alternative is not covered. No alternatives: an empty cover. */
function unionCovers(covers: readonly (TermCover | undefined)[], bound: number): TermCover | undefined {
  const known = covers.filter((each) => each !== undefined);
  if (known.length < covers.length) return undefined;
  const size = known.reduce((sum, each) => sum + each.size, 0);
  return { terms: [...new Set(known.flatMap(({ terms }) => terms))], size: Math.min(size, bound) };
}

function smallest<T extends { readonly size: number }>(all: readonly T[]): T | undefined {
  return all.reduce<T | undefined>(
    (least, each) => (least && least.size <= each.size ? least : each),
    undefined,
  );
}

function rowsOf(index: string, terms: readonly number[]): Sql {
  return sql`select distinct row_id from ${raw(index)} where term in ${list(terms)}`;
}

async function boundedCount(reader: Reader, rows: Sql, bound: number): Promise<number> {
  const row = await reader.get(
    sql`select count(*) as ${number('size')} from (select 1 from (${rows}) limit ${bound})`,
  );
  return row?.size ?? 0;
}

import { type JsonObject, toJson } from '../../core/json.ts';
import { TOO_MANY, termsOf } from '../../db/containment-terms.ts';
import type { Reader } from '../../db/db.ts';
import type { MetadataFilter } from '../../db/metadata-filter.ts';
import { and, type DialectSql, list, or, raw, type Sql, sql } from '../../db/sql.ts';

/** What of a table is looked for. */
export interface TableFilter {
  readonly table: 'threads' | 'assistants';
  /** All that a row must be, in the words of one statement. */
  readonly where: readonly (Sql | DialectSql)[];
  /**
   * What `where` says of columns that have an index for containment (`migrations/containment-index.ts`). Only SQLite
   * needs to be told, here and in the next.
   */
  readonly contained: readonly ContainmentCondition[];
  /** Other indexes of the table that can answer a part of `where`: selects of `row_id`. */
  readonly row_id_queries: readonly Sql[];
}

export interface ContainmentCondition {
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

/** Rows from an index of SQLite, among which are all that a search looks for. */
export interface AccessPath {
  /** A select of `row_id`, each once. */
  readonly rows: Sql;
  /** How many they are; the bound when there are as many or more. */
  readonly size: number;
}

/**
 * The smallest source of a search, as far as counting each up to the bound tells; undefined when nothing narrows it.
 * SQLite has no idea of how often a term is in the index, so we look: some ten microseconds for a thousand.
 */
export async function mostSelectivePath(
  reader: Reader,
  { table, contained, row_id_queries }: TableFilter,
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

/** What indexes tell of a row of the table sooner than the row itself: whether it may match. */
export function mayMatch({ table, contained }: TableFilter): Sql {
  return and(
    contained.map(({ column, filter }) =>
      hasTerms(`${table}_${column}_terms`, raw(`${table}.row_id`), filter),
    ),
  );
}

/** Terms of which each row that matches a filter has one or more. */
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

/** For each term, under what the rows stand that may have it. */
function searchTerms(contained: JsonObject): number[][] {
  const terms = [...termsOf(JSON.parse(toJson(contained)))].slice(0, MAX_PROBES);
  return terms.map((term) => (term === TOO_MANY ? [TOO_MANY] : [term, TOO_MANY]));
}

/** More questions about one filter would cost more than they can save. */
const MAX_PROBES = 8;

/** Undefined when a way to match is not covered. No way at all is covered by nothing. */
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
  const row = await reader.get<{ size: number }>(
    sql`select count(*) as size from (select 1 from (${rows}) limit ${bound})`,
  );
  return row?.size ?? 0;
}

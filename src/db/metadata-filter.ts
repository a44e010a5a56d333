import type { JsonObject } from '../core/json.ts';
import { contains } from './json.ts';
import { and, or, raw, type Sql, sql } from './sql.ts';

/**
 * What the metadata of a row must be: containment (`@>`, CONTRACT §2.2), all or any of several. An owner rule
 * (CONTRACT §10) is one too: `k: v` and `$eq` are `{contains: {k: v}}`, `$contains` is `{contains: {k: [v, …]}}`, `$and`
 * is `all`, `$or` is `any`. Nothing in `all` is everything, nothing in `any` is nothing.
 */
export type MetadataFilter =
  | { readonly contains: JsonObject }
  | { readonly all: readonly MetadataFilter[] }
  | { readonly any: readonly MetadataFilter[] };

/**
 * The filter as an exact condition on a column (`threads.metadata`), for a row that is found by its id or by another
 * column. Searches of whole tables take the filter itself and go through its index.
 */
export function metadataMatches(column: string, filter: MetadataFilter): Sql {
  if ('all' in filter) return and(filter.all.map((each) => metadataMatches(column, each)));
  if ('any' in filter) return or(filter.any.map((each) => metadataMatches(column, each)));
  if (Object.keys(filter.contains).length === 0) return and([]);
  const contained = contains(column, filter.contains);
  return sql`${{
    sqlite: sql`${contained}`,
    // Empty metadata is left out of the index, and PostgreSQL must be told that none of it is asked for.
    postgres: sql`(${contained} and ${raw(column)} <> '{}')`,
  }}`;
}

/** True when every row satisfies the filter. */
export function matchesEverything(filter: MetadataFilter): boolean {
  if ('all' in filter) return filter.all.every(matchesEverything);
  return 'any' in filter ? filter.any.some(matchesEverything) : Object.keys(filter.contains).length === 0;
}

/** What satisfies each of these; those that are undefined ask for nothing. */
export function combineFilters(...filters: readonly (MetadataFilter | undefined)[]): MetadataFilter {
  return { all: filters.filter((filter) => filter !== undefined) };
}

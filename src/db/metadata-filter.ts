import { type JsonObject, toJson } from '../core/json.ts';
import { containsJson } from './containment.ts';
import { contains } from './json.ts';
import { and, or, raw, type Sql, sql } from './sql.ts';

/**
 * Filter on a row's metadata: containment (`@>`, contract §2.2), all or any of several. Owner rules (contract §10)
 * compile to it: `k: v` and `$eq` to `{contains: {k: v}}`, `$contains` to `{contains: {k: [v, …]}}`, `$and` to `all`,
 * `$or` to `any`. An empty `all` matches every row, an empty `any` none.
 */
export type MetadataFilter =
  | { readonly contains: JsonObject }
  | { readonly all: readonly MetadataFilter[] }
  | { readonly any: readonly MetadataFilter[] };

/**
 * The filter as an exact condition on a column (`threads.metadata`), for a row found by its id or by another column.
 * Searches of whole tables pass the filter itself and use its index.
 */
export function metadataMatches(column: string, filter: MetadataFilter): Sql {
  if ('all' in filter) return and(filter.all.map((each) => metadataMatches(column, each)));
  if ('any' in filter) return or(filter.any.map((each) => metadataMatches(column, each)));
  if (Object.keys(filter.contains).length === 0) return and([]);
  const contained = contains(column, filter.contains);
  return sql`${{
    sqlite: sql`${contained}`,
    // The partial index omits empty metadata: PostgreSQL uses it only if the condition excludes that too.
    postgres: sql`(${contained} and ${raw(column)} <> '{}')`,
  }}`;
}

/** The same for metadata in memory, such as that of a deleted row. */
export function filterMatches(metadata: JsonObject, filter: MetadataFilter): boolean {
  if ('all' in filter) return filter.all.every((each) => filterMatches(metadata, each));
  if ('any' in filter) return filter.any.some((each) => filterMatches(metadata, each));
  // As a statement would bind it.
  return containsJson(metadata, JSON.parse(toJson(filter.contains)));
}

/** True when every row satisfies the filter. */
export function matchesEverything(filter: MetadataFilter): boolean {
  if ('all' in filter) return filter.all.every(matchesEverything);
  return 'any' in filter ? filter.any.some(matchesEverything) : Object.keys(filter.contains).length === 0;
}

/** Conjunction of the filters; `undefined` adds no condition. */
export function combineFilters(...filters: readonly (MetadataFilter | undefined)[]): MetadataFilter {
  return { all: filters.filter((filter) => filter !== undefined) };
}

import type { JsonObject } from '../../core/json.ts';
import { isOneOf } from '../../db/json.ts';
import {
  combineFilters,
  filterMatches,
  type MetadataFilter,
  metadataMatches,
} from '../../db/metadata-filter.ts';
import { and, raw, type Sql, sql } from '../../db/sql.ts';

/** Visible rows: by metadata filter, by ids, or both. `undefined` means all. */
export interface Visibility {
  readonly metadata?: MetadataFilter | undefined;
  readonly ids?: readonly string[] | undefined;
}

/** Columns that a visibility filters on, qualified with their table. */
export interface VisibleRows {
  readonly metadata: string;
  readonly id: string;
}

export const VISIBLE_THREADS: VisibleRows = { metadata: 'threads.metadata', id: 'threads.thread_id' };
export const VISIBLE_ASSISTANTS: VisibleRows = {
  metadata: 'assistants.metadata',
  id: 'assistants.assistant_id',
};

/** By the thread that they belong to. */
export const VISIBLE_DELIVERIES: VisibleRows = {
  metadata: 'webhook_outbox.metadata',
  id: 'webhook_outbox.thread_id',
};

export const VISIBLE_CRONS: VisibleRows = { metadata: 'crons.metadata', id: 'crons.cron_id' };

/** Rows visible under both. */
export function intersectVisibility(
  one: Visibility | undefined,
  other: Visibility | undefined,
): Visibility | undefined {
  if (!one || !other) return one ?? other;
  const ids = one.ids && other.ids ? one.ids.filter((id) => other.ids?.includes(id)) : (one.ids ?? other.ids);
  const metadata =
    one.metadata && other.metadata
      ? combineFilters(one.metadata, other.metadata)
      : (one.metadata ?? other.metadata);
  return { metadata, ids };
}

/**
 * Condition for a row found by id or another column; `undefined` if unrestricted, which leaves the query unchanged.
 * Table searches apply the metadata filter themselves.
 */
export function visible(rows: VisibleRows, visibility: Visibility | undefined): Sql | undefined {
  return visibility && conditionOf(rows, visibility);
}

/** The same for rows of a thread; `thread_id` is their foreign key column. */
export function threadVisible(thread_id: string, visibility: Visibility | undefined): Sql | undefined {
  return (
    visibility &&
    sql`exists (select 1 from threads
      where threads.thread_id = ${raw(thread_id)} and ${conditionOf(VISIBLE_THREADS, visibility)})`
  );
}

/** The same for a thread that has been deleted, whose metadata is known. */
export function wasVisible(
  { thread_id, metadata }: { readonly thread_id: string; readonly metadata: JsonObject },
  { ids, metadata: filter }: Visibility,
): boolean {
  if (ids && !ids.includes(thread_id)) return false;
  return filter === undefined || filterMatches(metadata, filter);
}

function conditionOf(rows: VisibleRows, { metadata, ids }: Visibility): Sql {
  return and([
    metadata && metadataMatches(rows.metadata, metadata),
    // An empty list matches no row.
    ids && isOneOf(rows.id, ids),
  ]);
}

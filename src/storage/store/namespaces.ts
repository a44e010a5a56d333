import { flag, text } from '../../db/columns.ts';
import type { Db } from '../../db/db.ts';
import { and, type DialectSql, raw, type Sql, sql } from '../../db/sql.ts';
import type { Visibility } from '../access/visibility.ts';
import { afterPrefix, isVisible, LIVE, prefixOf } from './scope.ts';

export interface NamespaceQuery {
  /** Leading labels; `*` matches any one label. */
  readonly prefix?: readonly string[] | null | undefined;
  /** Trailing labels, likewise. */
  readonly suffix?: readonly string[] | null | undefined;
  /** Truncates namespaces to this many labels. */
  readonly max_depth?: number | null | undefined;
  readonly limit: number;
  readonly offset: number;
}

/** Maximum namespaces per statement. */
const BATCH = 500;

/**
 * Distinct namespaces with live items, in order. A loose index scan: the cost depends on the number of namespaces up to
 * the end of the page, not on their items.
 */
export async function listNamespaces(
  db: Db,
  query: NamespaceQuery,
  visibility: Visibility | undefined,
): Promise<string[][]> {
  const { limit, offset, max_depth } = query;
  const [prefix, suffix] = [query.prefix ?? [], query.suffix ?? []];
  // If no condition looks deeper, skip deeper namespaces in the index.
  const depth = max_depth && suffix.length === 0 && prefix.length <= max_depth ? max_depth : undefined;
  const batch = Math.min(offset + limit + 1, BATCH);
  const found = new Set<string>();
  for await (const head of headsOf(db, { below: literalPrefix(prefix), depth, batch, visibility })) {
    const labels = head.split('.').slice(0, -1);
    if (!beginsWith(labels, prefix) || !beginsWith(labels.toReversed(), suffix.toReversed())) continue;
    found.add(prefixOf(labels.slice(0, max_depth ?? labels.length)));
    // One extra, because later ones may truncate to the same namespace.
    if (found.size > offset + limit) break;
  }
  return [...found].slice(offset, offset + limit).map((head) => head.split('.').slice(0, -1));
}

function beginsWith(labels: readonly string[], wanted: readonly string[]): boolean {
  return (
    labels.length >= wanted.length && wanted.every((label, index) => label === '*' || label === labels[index])
  );
}

/** The labels before the first wildcard. */
function literalPrefix(prefix: readonly string[]): readonly string[] {
  const any = prefix.indexOf('*');
  return any < 0 ? prefix : prefix.slice(0, any);
}

interface HeadQuery {
  readonly below: readonly string[];
  readonly depth: number | undefined;
  readonly batch: number;
  readonly visibility: Visibility | undefined;
}

/** Prefixes of namespaces with live items, in order, truncated to `depth` labels. */
async function* headsOf(db: Db, { below, depth, batch, visibility }: HeadQuery) {
  const first = prefixOf(below);
  const end = below.length > 0 ? sql`and prefix < ${afterPrefix(first)}` : raw('');
  let start = sql`prefix >= ${first}`;
  for (;;) {
    const heads = await db.all(sql`
      with recursive heads (head) as (
        select * from (${nextHead(depth, sql`${start} ${end}`)}) one
        union all
        select (${nextHead(depth, sql`prefix > ${lastOf(depth)} ${end}`)}) from heads where head is not null
      )
      select ${text('head')}, exists (select 1 from store_items
        where prefix >= heads.head and prefix <= ${lastOf(depth)} and ${and([LIVE, isVisible(db.cipher, visibility)])}
      ) as ${flag('live')}
      from heads where head is not null limit ${batch}`);
    for (const { head, live } of heads) if (live) yield head;
    const last = heads.at(-1);
    if (!last || heads.length < batch) return;
    start = sql`prefix > ${last.head.split('.').length - 1 === depth ? afterPrefix(last.head) : last.head}`;
  }
}

/** The next namespace in the index, truncated. */
function nextHead(depth: number | undefined, where: Sql): Sql {
  const head = depth === undefined ? raw('prefix') : firstLabels(depth);
  return sql`select ${head} from store_items where ${where} order by prefix limit 1`;
}

/** Upper end of the prefixes that `head` covers: itself, or everything below it if truncated. */
function lastOf(depth: number | undefined): Sql {
  if (depth === undefined) return raw('heads.head');
  return sql`case when length(heads.head) - length(replace(heads.head, '.', '')) < ${depth} then heads.head
    else substr(heads.head, 1, length(heads.head) - 1) || '/' end`;
}

/** The first labels of the namespace in the form of `prefix`. */
function firstLabels(count: number): DialectSql {
  return {
    sqlite: sql`(select group_concat(l.value || '.', '' order by l.key) from json_each(namespace) l
      where l.key < ${count})`,
    postgres: sql`array_to_string((string_to_array(prefix, '.'))[1:least(${count}::int, json_array_length(namespace))], '.') || '.'`,
  };
}

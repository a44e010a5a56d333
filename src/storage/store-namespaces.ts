import type { Db } from './db.ts';
import { all, type DialectSql, raw, type Sql, sql } from './sql.ts';
import { isUnder, LIVE } from './store-rows.ts';

export interface NamespaceQuery {
  /** First labels; `*` is any one label. */
  readonly prefix?: readonly string[] | null | undefined;
  /** Last labels, likewise. */
  readonly suffix?: readonly string[] | null | undefined;
  /** Namespaces are cut to this many labels. */
  readonly max_depth?: number | null | undefined;
  readonly limit: number;
  readonly offset: number;
}

const DEPTH = sql`json_array_length(namespace)`;

/** Each namespace that has items once, in order. */
export async function listNamespaces(db: Db, query: NamespaceQuery): Promise<string[][]> {
  const { max_depth, limit, offset } = query;
  const prefix = query.prefix ?? [];
  const suffix = query.suffix ?? [];
  const firstAny = prefix.indexOf('*');
  const literal = firstAny < 0 ? prefix : prefix.slice(0, firstAny);
  const fromEnd = (index: number) => sql`(${DEPTH} - ${raw(String(suffix.length - index))})`;
  const rows = await db.all<{ labels: string }>(sql`
    select distinct ${max_depth ? firstLabels(max_depth) : raw('prefix')} as labels from store_items
    where ${all([
      LIVE,
      isUnder(literal),
      sql`${DEPTH} >= ${Math.max(prefix.length, suffix.length)}`,
      ...prefix.map((label, index) => isLabel(raw(String(index)), label)),
      ...suffix.map((label, index) => isLabel(fromEnd(index), label)),
    ])} order by labels limit ${limit} offset ${offset}`);
  return rows.map((row) => row.labels.split('.').slice(0, -1));
}

function isLabel(index: Sql, label: string): Sql | undefined {
  return label === '*' ? undefined : sql`namespace ->> ${index} = ${label}`;
}

/** The first labels of the namespace in the form of `prefix`. */
function firstLabels(count: number): DialectSql {
  return {
    sqlite: sql`(select group_concat(l.value || '.', '' order by l.key) from json_each(namespace) l
      where l.key < ${count})`,
    postgres: sql`array_to_string((string_to_array(prefix, '.'))[1:least(${count}::int, ${DEPTH})], '.') || '.'`,
  };
}

import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Reader } from '../db.ts';
import { all, raw, type Sql, sql } from '../sql.ts';
import { mayMatch } from './sources.ts';
import type { TablePage } from './table-search.ts';

/** The first stretch is most often enough; a later one holds up everything else for some 5 ms. */
const FIRST = 500;
const LONGEST = 4000;

/** A place in the order of a page. */
interface Place {
  readonly sort: string | number;
  readonly id: string;
}

/**
 * Goes along the index that has the order of the page, and returns its ids; undefined when it is not full after `most`
 * rows. SQLite reads on the thread that serves everybody: between two stretches the others have their turn.
 */
export async function walk(
  reader: Reader,
  page: TablePage,
  most = Number.POSITIVE_INFINITY,
): Promise<string[] | undefined> {
  const found: string[] = [];
  let skip = page.offset;
  let from: Place | undefined;
  for (
    let gone = 0, stretch = FIRST;
    gone < most;
    gone += stretch, stretch = Math.min(LONGEST, stretch * 2)
  ) {
    if (gone > 0) await nextTurn();
    const to = await placeAfter(reader, page, from, stretch);
    const matching = await between(reader, page, from, to, skip + page.limit - found.length);
    found.push(...matching.slice(skip));
    skip = Math.max(0, skip - matching.length);
    if (found.length === page.limit || !to) return found;
    from = to;
  }
  return undefined;
}

/** The last place of the next stretch; undefined when it goes to the end. */
function placeAfter(
  reader: Reader,
  page: TablePage,
  from: Place | undefined,
  stretch: number,
): Promise<Place | undefined> {
  return reader.get<Place>(sql`
    select ${page.sort} as sort, ${raw(page.id)} as id from ${raw(page.table)} where ${beyond(page, from)}
    ${inOrder(page)} limit 1 offset ${stretch - 1}`);
}

async function between(
  reader: Reader,
  page: TablePage,
  from: Place | undefined,
  to: Place | undefined,
  limit: number,
): Promise<string[]> {
  const until = to && sql`${place(page)} ${raw(page.order === 'asc' ? '<=' : '>=')} (${to.sort}, ${to.id})`;
  const rows = await reader.all<{ id: string }>(sql`
    select ${raw(page.id)} as id from ${raw(page.table)}
    where ${all([beyond(page, from), until, mayMatch(page), ...page.where])} ${inOrder(page)} limit ${limit}`);
  return rows.map((row) => row.id);
}

function beyond(page: TablePage, from: Place | undefined): Sql {
  if (!from) return all([]);
  return sql`${place(page)} ${raw(page.order === 'asc' ? '>' : '<')} (${from.sort}, ${from.id})`;
}

function place({ sort, id }: TablePage): Sql {
  return sql`(${sort}, ${raw(id)})`;
}

function inOrder({ sort, id, order }: TablePage): Sql {
  return sql`order by ${sort} ${raw(order)}, ${raw(id)} ${raw(order)}`;
}

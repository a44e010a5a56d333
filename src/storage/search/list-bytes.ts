import { InvalidInput } from '../../core/errors.ts';
import { yieldToEventLoop } from '../../core/event-loop.ts';
import { number, text } from '../../db/columns.ts';
import type { Reader } from '../../db/db.ts';
import { isOneOf } from '../../db/json.ts';
import { and, raw, type Sql, sql } from '../../db/sql.ts';
import { SLICE_BYTES, slicesOf, sumOf } from './byte-slices.ts';

/** Most JSON of one list, bytes: ten runs, the default page, with inputs of the default body limit, also encrypted. */
export const MAX_LIST_BYTES = 64 * 1024 * 1024;

/** Read whatever their size: a page of one row, and the next row, which tells whether another page follows. */
const ALWAYS_READ_ROWS = 2;

export interface BoundedList<Row, Item> {
  /** Plural, such as `threads`. */
  readonly what: string;
  /** What a client can do besides lowering the limit. */
  readonly or?: string | undefined;
  /** The rows to read: their unique column, and the condition that a row has one of some values of it. */
  readonly ids: readonly string[];
  readonly id: string;
  readonly among?: (ids: readonly string[]) => Sql;
  /** The statement for rows that meet a condition. */
  readonly select: (condition: Sql) => Sql<Row>;
  /** Where these are: `from`, and what follows before `where`. */
  readonly from: Sql;
  /** Conditions on top of the ids, such as visibility. */
  readonly where?: readonly (Sql | undefined)[];
  /** What is large of them. */
  readonly large: readonly Sql[];
  /** The same more exactly, but slower to compute: decides where `large` is too large. */
  readonly exactly?: readonly Sql[] | undefined;
  readonly max_bytes?: number | undefined;
  /** Parses and decrypts a row. */
  readonly read: (row: Row) => Item;
}

/**
 * Reads rows by their ids, in no order: in one statement if they are small, as nearly always, which the same statement
 * finds out first, else in slices by bytes. The event loop gets its turns between rows. Throws `InvalidInput` if their JSON
 * is too large for one reply: a shorter page would be taken for the last one.
 */
export async function boundedRows<Row, Item>(reader: Reader, list: BoundedList<Row, Item>): Promise<Item[]> {
  const { ids, select, from, large, max_bytes = MAX_LIST_BYTES } = list;
  if (ids.length === 0) return [];
  const wanted = conditionOn(list, ids);
  if (ids.length <= ALWAYS_READ_ROWS) return readAll(reader, list, wanted);
  const bytes = storedBytes(large, sql`${from} where ${wanted}`);
  const most = Math.min(max_bytes, SLICE_BYTES);
  const few = await reader.all(select(sql`${wanted} and ${bytes} <= ${most}`));
  if (few.length > 0) return itemsOf(list, few);
  const sized = await reader.all(sql`
    select cast(${raw(list.id)} as text) as ${text('id')}, ${sumOf(large)} as ${number('bytes')} ${from} where ${wanted}`);
  await refuseTooLarge(reader, list, sized);
  const items: Item[] = [];
  for (const slice of slicesOf(sized)) {
    const within = conditionOn(
      list,
      slice.map((row) => row.id),
    );
    items.push(...(await readAll(reader, list, within)));
  }
  return items;
}

function conditionOn<Row, Item>(
  { id, among = (some) => isOneOf(id, some), where = [] }: BoundedList<Row, Item>,
  ids: readonly string[],
): Sql {
  return and([among(ids), ...where]);
}

async function readAll<Row, Item>(
  reader: Reader,
  list: BoundedList<Row, Item>,
  condition: Sql,
): Promise<Item[]> {
  return itemsOf(list, await reader.all(list.select(condition)));
}

/** Each row may take some ms: it is parsed, and may be encrypted. */
async function itemsOf<Row, Item>({ read }: BoundedList<Row, Item>, rows: readonly Row[]): Promise<Item[]> {
  const items: Item[] = [];
  for (const row of rows) {
    const turn = yieldToEventLoop();
    if (turn !== undefined) await turn;
    items.push(read(row));
  }
  return items;
}

async function refuseTooLarge<Row, Item>(
  reader: Reader,
  { what, or, exactly, from, max_bytes = MAX_LIST_BYTES, ...list }: BoundedList<Row, Item>,
  sized: readonly { readonly id: string; readonly bytes: number }[],
): Promise<void> {
  let bytes = sized.reduce((sum, row) => sum + row.bytes, 0);
  if (bytes <= max_bytes) return;
  if (exactly) {
    bytes = 0;
    for (const slice of slicesOf(sized)) {
      const ids = slice.map((row) => row.id);
      const within = sql`${from} where ${conditionOn({ what, from, ...list }, ids)}`;
      const row = await reader.get(sql`select ${storedBytes(exactly, within)} as ${number('bytes')}`);
      bytes += row?.bytes ?? 0;
    }
  }
  if (bytes > max_bytes) throw tooLarge(`these ${what} have ${bytes} bytes`, max_bytes, or);
}

/** `size`: what is too large, and how large it is. */
export function tooLarge(size: string, max_bytes: number, or?: string): InvalidInput {
  const way = or === undefined ? 'Lower the limit' : `Lower the limit, or ${or}`;
  return new InvalidInput(`limit: ${size}, but a response may have at most ${max_bytes}. ${way}.`);
}

/** Stored size of these values of the rows, bytes. */
function storedBytes(values: readonly Sql[], from: Sql): Sql {
  return sql`(select cast(coalesce(sum(bytes), 0) as bigint) from (select ${sumOf(values)} as bytes ${from}) sized)`;
}

import type { Rows } from './column-types.ts';
import { raw, type Selection, type Sql, type SqlValue } from './sql.ts';

/** Part of a select list whose columns have types. */
export interface Columns<out Row> extends Sql<Row> {
  readonly selects: Selection<Row>;
}

/**
 * Columns of a table, for a select list: `` sql`select ${columns('runs', 'run_id, status')} from runs` `` returns rows
 * of `{ run_id: string; status: RunStatus }`. The list is SQL as it stands, and may qualify and rename:
 * `q.lease_token as token`.
 */
export function columns<Table extends keyof Rows, List extends string>(
  table: Table,
  list: List extends ListOf<Table, List> ? List : UnknownColumn<Table, List>,
): Columns<Selected<Table, ItemsOf<List>>> {
  return { ...raw(list), selects: { values: { table } } };
}

/** Columns that are chosen while the program runs, as key rotation does. */
export function columnsNamed(names: readonly string[]): Columns<Record<string, SqlValue>> {
  return { ...raw(names.join(', ')), selects: { values: 'any' } };
}

/** Names without a value: `null as task_id, null as idx` for what only another select of a union has. */
export function nulls<List extends string>(list: List): Columns<Record<ItemsOf<List>, null>> {
  return { ...raw(list.replace(/\w+/g, 'null as $&')), selects: { values: [], null: 'allowed' } };
}

/** The name of a computed number: `` sql`select count(*) as ${number('count')} from runs` ``. */
export function number<Name extends string>(name: Name): Columns<Record<Name, number>> {
  return { ...raw(name), selects: { values: 'number' } };
}

/** The name of a computed text, one of `values` if there are any: `` sql`'blob' as ${text('kind', 'blob')}` ``. */
export function text<Name extends string, Value extends string = string>(
  name: Name,
  ...values: Value[]
): Columns<Record<Name, Value>> {
  return { ...raw(name), selects: { values: values.length > 0 ? values : 'text' } };
}

/** The name of a condition: true is 1 on both engines, false is 0. */
export function flag<Name extends string>(name: Name): Columns<Record<Name, 0 | 1>> {
  return { ...raw(name), selects: { values: 'flag' } };
}

/** Columns that may also be null, such as those of a left join. */
export function nullable<Row>({
  selects: { values },
  ...list
}: Columns<Row>): Columns<{ [Name in keyof Row]: Row[Name] | null }> {
  return { ...list, selects: { values, null: 'allowed' } };
}

/** Columns that the statement's condition keeps from being null, though their table does not. */
export function notNull<Row>({
  selects: { values },
  ...list
}: Columns<Row>): Columns<{ [Name in keyof Row]: NonNullable<Row[Name]> }> {
  return { ...list, selects: { values, null: 'excluded' } };
}

/** The items of a select list, as a union. */
type ItemsOf<List extends string> = List extends `${infer First},${infer Rest}`
  ? Trimmed<First> | ItemsOf<Rest>
  : Trimmed<List>;

type Space = ' ' | '\n';

type Trimmed<Text extends string> = Text extends `${Space}${infer Rest}` | `${infer Rest}${Space}`
  ? Trimmed<Rest>
  : Text;

/** `lease_token` of `q.lease_token as token`. */
type ColumnOf<Item> = Item extends `${infer Column} as ${string}`
  ? ColumnOf<Column>
  : Item extends `${string}.${infer Column}`
    ? Column
    : Item;

/** `token` of `q.lease_token as token`. */
type NameOf<Item> = Item extends `${string} as ${infer Name}`
  ? Name extends `"${infer Quoted}"`
    ? Quoted
    : Name
  : ColumnOf<Item>;

type Selected<Table extends keyof Rows, Items extends string> = {
  [Item in Items as NameOf<Item>]: Rows[Table][ColumnOf<Item> & keyof Rows[Table]];
};

type ListOf<Table extends keyof Rows, List extends string> =
  ColumnOf<ItemsOf<List>> extends keyof Rows[Table] ? List : never;

/** What the compiler reports for a list with other names. */
type UnknownColumn<
  Table extends keyof Rows,
  List extends string,
> = `${Table} has no column ${Exclude<ColumnOf<ItemsOf<List>>, keyof Rows[Table]>}`;

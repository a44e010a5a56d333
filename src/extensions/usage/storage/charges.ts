import { timestamp } from '../../../core/clock.ts';
import { type Columns, columns } from '../../../db/columns.ts';
import type { Db, Transaction } from '../../../db/db.ts';
import { insertRows } from '../../../db/rows.ts';
import { join, list, raw, SKIP_LOCKED, type Sql, sql } from '../../../db/sql.ts';
import type { PricedStep } from '../../../schemas/steps.ts';

/** Who is charged for what a run uses. */
export interface UsageAccount {
  readonly assistant_id: string;
  /** Identity of the user; empty without one, as for API keys. */
  readonly user_id: string;
  /** Id of the API key; empty without one. */
  readonly key_id: string;
}

/** Sums over calls of models. */
export interface UsageSums {
  readonly calls: number;
  /** Calls whose cost is unknown. */
  readonly unpriced_calls: number;
  readonly tokens_in: number;
  readonly tokens_cached: number;
  readonly tokens_out: number;
  /** Billionths of the currency. */
  readonly cost_nanos: number;
}

export const NANOS = 1e9;

type Call = Pick<
  PricedStep,
  'model' | 'ended_at' | 'tokens_in' | 'tokens_cached' | 'tokens_out' | 'calls' | 'cost'
>;

const SUMS = 'calls, unpriced_calls, tokens_in, tokens_cached, tokens_out, cost_nanos';

/** A run with a key has all of its entries in the second one. */
type EntryTable = 'usage_entries' | 'usage_key_entries';

/** Part of a transaction that has checked the lease: adds calls that were not charged before to the run's entries. */
export function chargeCalls(
  tx: Transaction,
  run_id: string,
  { assistant_id, user_id, key_id }: UsageAccount,
  calls: readonly Call[],
): Promise<void> {
  const table = key_id === '' ? 'usage_entries' : 'usage_key_entries';
  const [key, ofKey] = key_id === '' ? [raw(''), raw('')] : [raw('key_id,'), sql`${key_id},`];
  const entries = Map.groupBy(calls, ({ model, ended_at }) => `${dayOf(ended_at)} ${model ?? ''}`);
  const rows = [...entries].sort(byKey).map(([entry, group]) => {
    const [day, model] = [entry.slice(0, DAY_LENGTH), entry.slice(DAY_LENGTH + 1)];
    const sums = group.map(sumsOf).reduce(add);
    return sql`(${run_id}, ${model}, ${day}, ${assistant_id}, ${user_id}, ${ofKey} ${valuesOf(sums)})`;
  });
  return insertRows(
    tx,
    sql`${raw(table)} (run_id, model, day, assistant_id, user_id, ${key} ${raw(SUMS)})`,
    rows,
    sql`on conflict (run_id, model, day) do update set ${added(table)}`,
  );
}

/**
 * Part of the same transaction: adds the calls to the sum of the run, unless it was deleted with its thread a moment ago.
 */
export function addToRun(tx: Transaction, run_id: string, calls: readonly Call[]): void {
  tx.defer(sql`
    insert into usage_runs (run_id, ${raw(SUMS)})
    select run_id, ${valuesOf(calls.map(sumsOf).reduce(add))} from runs where run_id = ${run_id}
    on conflict (run_id) do update set ${added('usage_runs')}`);
}

const DAY_LENGTH = 'YYYY-MM-DD'.length;

/** The day of a time in epoch ms, UTC. */
export function dayOf(time: number): string {
  return timestamp(time).slice(0, DAY_LENGTH);
}

function byKey([a]: [string, unknown], [b]: [string, unknown]): number {
  return a < b ? -1 : 1;
}

function sumsOf({ cost, calls = 1, ...call }: Call): UsageSums {
  return {
    calls,
    unpriced_calls: cost === null ? calls : 0,
    tokens_in: call.tokens_in ?? 0,
    tokens_cached: call.tokens_cached ?? 0,
    tokens_out: call.tokens_out ?? 0,
    cost_nanos: Math.round((cost ?? 0) * NANOS),
  };
}

function add(one: UsageSums, other: UsageSums): UsageSums {
  return {
    calls: one.calls + other.calls,
    unpriced_calls: one.unpriced_calls + other.unpriced_calls,
    tokens_in: one.tokens_in + other.tokens_in,
    tokens_cached: one.tokens_cached + other.tokens_cached,
    tokens_out: one.tokens_out + other.tokens_out,
    cost_nanos: one.cost_nanos + other.cost_nanos,
  };
}

function valuesOf(sums: UsageSums): Sql {
  return sql`${sums.calls}, ${sums.unpriced_calls}, ${sums.tokens_in}, ${sums.tokens_cached}, ${sums.tokens_out},
    ${sums.cost_nanos}`;
}

/** Assignments that add what a conflicting row has. */
function added(table: EntryTable | SumTable | 'usage_runs'): Sql {
  return raw(SUMS.replace(/\w+/g, `$& = ${table}.$& + excluded.$&`));
}

const ENTRY_COLUMNS =
  `day, assistant_id, user_id, model, calls, unpriced_calls, tokens_in, tokens_cached, tokens_out,
  cost_nanos` as const;
const ENTRY = columns('usage_entries', ENTRY_COLUMNS);
const KEY_ENTRY = columns('usage_key_entries', `${ENTRY_COLUMNS}, key_id`);

/**
 * Sums up the entries of up to `limit` ended runs by day, in one transaction; returns how many it found. Each entry is
 * added by the process that deletes it: processes may do this at the same time.
 */
export function rollUpUsage(db: Db, limit: number): Promise<number> {
  return db.transaction('async', async (tx) => {
    const plain = await endedRuns(tx, 'usage_entries', limit);
    const keyed = await endedRuns(tx, 'usage_key_entries', limit - plain.length);
    const entries = await deleteEntries(tx, plain, sql`usage_entries`, ENTRY);
    const ofKeys = await deleteEntries(tx, keyed, sql`usage_key_entries`, KEY_ENTRY);
    const all = [...entries, ...ofKeys];
    await addTo(tx, 'usage_days', ['day', 'assistant_id', 'user_id', 'model'], all);
    await addTo(tx, 'usage_keys', ['day', 'assistant_id', 'user_id', 'key_id', 'model'], ofKeys);
    await addTo(tx, 'usage_totals', ['day', 'assistant_id', 'model'], all);
    return plain.length + keyed.length;
  });
}

/** The runs of up to `limit` entries whose runs have ended, once for each entry. */
async function endedRuns(tx: Transaction, table: EntryTable, limit: number): Promise<string[]> {
  const rows = await tx.all(sql`
    select ${columns(table, 'run_id')} from ${raw(table)}
    where not exists (select 1 from run_queue where run_queue.run_id = ${raw(table)}.run_id)
    limit ${limit} ${SKIP_LOCKED}`);
  return rows.map(({ run_id }) => run_id);
}

async function deleteEntries<Row>(
  tx: Transaction,
  run_ids: readonly string[],
  table: Sql,
  entry: Columns<Row>,
): Promise<Row[]> {
  if (run_ids.length === 0) return [];
  return tx.all(sql`delete from ${table} where run_id in ${list([...new Set(run_ids)])} returning ${entry}`);
}

/** Sums of ended runs by day; those of keys are part of both others. */
type SumTable = 'usage_days' | 'usage_keys' | 'usage_totals';

type Entry = UsageSums &
  Readonly<Record<'day' | 'assistant_id' | 'user_id' | 'model', string>> & { readonly key_id?: string };

/** In one order in all processes, which therefore never wait for each other in a circle. */
function addTo(
  tx: Transaction,
  table: SumTable,
  keys: readonly (keyof Entry)[],
  entries: readonly Entry[],
): Promise<void> {
  const groups = Map.groupBy(entries, (entry) => JSON.stringify(keys.map((key) => entry[key])));
  const rows = [...groups].sort(byKey).map(([key, group]) => {
    const values = (JSON.parse(key) as string[]).map((value) => sql`${value}`);
    return sql`(${join(values, ', ')}, ${valuesOf(group.reduce<UsageSums>(add, NOTHING))})`;
  });
  return insertRows(
    tx,
    sql`${raw(table)} (${raw(keys.join(', '))}, ${raw(SUMS)})`,
    rows,
    sql`on conflict (${raw(keys.join(', '))}) do update set ${added(table)}`,
  );
}

const NOTHING: UsageSums = {
  calls: 0,
  unpriced_calls: 0,
  tokens_in: 0,
  tokens_cached: 0,
  tokens_out: 0,
  cost_nanos: 0,
};

import { isObject } from '../../core/json.ts';
import { columns } from '../../db/columns.ts';
import type { Db, Reader, Transaction } from '../../db/db.ts';
import { insertRowsReturning } from '../../db/rows.ts';
import { or, type Sql, sql } from '../../db/sql.ts';
import type { Interrupt } from '../../schemas/threads.ts';

/** What runs have used. */
export interface BudgetUsage {
  /** Read and written by models. */
  readonly tokens: number;
  /** Billionths of the currency. */
  readonly cost_nanos: number;
  /** Supersteps of the root graph. */
  readonly steps: number;
}

export const NOTHING_USED: BudgetUsage = { tokens: 0, cost_nanos: 0, steps: 0 };

/** Whose usage is summed up: of a thread for as long as it exists, of the others by day. */
export const SUM_SCOPES = ['thread', 'user_day', 'key_day', 'day'] as const;
export type SumScope = (typeof SUM_SCOPES)[number];

/** Which sums a run is part of: ids by scope; those without a budget are absent. */
export type BudgetSubjects = Readonly<Partial<Record<SumScope, string>>>;

/** By scope; a scope of which nothing was used may be absent. */
export type BudgetsUsed = Readonly<Partial<Record<SumScope | 'run', BudgetUsage>>>;

/** What a run has used, to be stored with the batch that its attempt writes next. */
export interface BudgetCharge {
  readonly run_id: string;
  readonly subjects: BudgetSubjects;
  /** UTC, YYYY-MM-DD. */
  readonly day: string;
  /** Usage of the run, in all of its attempts. */
  readonly totals: BudgetUsage;
  /** What of it was charged with earlier batches, as far as the attempt knows. */
  readonly charged: BudgetUsage;
}

const INTERRUPT_PREFIX = 'budget:';

/** Id of the interrupt at which a budget stopped the run. LangGraph's own ids are hashes. */
export function budgetInterruptId(run_id: string): string {
  return `${INTERRUPT_PREFIX}${run_id}`;
}

/** Such an interrupt is in its thread only, and in no checkpoint. */
export function isBudgetInterrupt(id: unknown): boolean {
  return typeof id === 'string' && id.startsWith(INTERRUPT_PREFIX);
}

/** At such an interrupt, the thread asks whether its runs may use as much again. */
export function isThreadBudgetInterrupt({ id, value }: Interrupt): boolean {
  return isBudgetInterrupt(id) && isObject(value) && value['budget'] === 'thread';
}

const USAGE = 'tokens, cost_nanos, steps';
const OF_RUN = columns('budget_runs', USAGE);
const OF_SUM = columns('budget_sums', `scope, ${USAGE}`);

/**
 * Part of a transaction that has checked the lease: adds what the run has used since it was charged last; returns all
 * sums that it is part of. Idempotent, as the response to a commit may be lost.
 * Each sum stays locked until the transaction ends. Of the runs that share it, the one whose charge exhausts a budget
 * sees so, as does every charge after it: none begins another superstep once it has been charged.
 */
export async function chargeBudgets(
  tx: Transaction,
  { run_id, subjects, day, totals }: BudgetCharge,
): Promise<BudgetsUsed> {
  const before = (await usedByRun(tx, run_id)) ?? NOTHING_USED;
  await tx.run(sql`
    insert into budget_runs (run_id, tokens, cost_nanos, steps)
    values (${run_id}, ${totals.tokens}, ${totals.cost_nanos}, ${totals.steps})
    on conflict (run_id) do update
      set tokens = excluded.tokens, cost_nanos = excluded.cost_nanos, steps = excluded.steps`);
  return { run: totals, ...(await addToSums(tx, { subjects, day, totals, charged: before })) };
}

/**
 * Part of a transaction: adds what an attempt without its run has used since it was charged last. Not to what the run
 * has used, which is gone or counted by another attempt. Not idempotent.
 */
export async function chargeUncounted(tx: Transaction, charge: BudgetCharge): Promise<void> {
  await addToSums(tx, charge);
}

async function addToSums(
  tx: Transaction,
  { subjects, day, totals, charged }: Omit<BudgetCharge, 'run_id'>,
): Promise<BudgetsUsed> {
  const keys = keysOf(subjects, day);
  if (keys.length === 0) return {};
  const { tokens, cost_nanos, steps } = totals;
  const sums = await insertRowsReturning(
    tx,
    sql`budget_sums (scope, subject, day, tokens, cost_nanos, steps)`,
    keys.map(
      (key) => sql`(${key.scope}, ${key.subject}, ${key.day}, ${tokens - charged.tokens},
        ${cost_nanos - charged.cost_nanos}, ${steps - charged.steps})`,
    ),
    {
      onConflict: sql`on conflict (scope, subject, day) do update set tokens = budget_sums.tokens + excluded.tokens,
        cost_nanos = budget_sums.cost_nanos + excluded.cost_nanos, steps = budget_sums.steps + excluded.steps`,
      returning: OF_SUM,
    },
  );
  return byScope(sums);
}

/** In one order in all processes, which therefore never wait for each other in a circle. */
function keysOf(subjects: BudgetSubjects, day: string) {
  return SUM_SCOPES.flatMap((scope) => {
    const subject = subjects[scope];
    return subject === undefined ? [] : [{ scope, subject, day: scope === 'thread' ? '' : day }];
  });
}

function byScope(
  rows: readonly (BudgetUsage & { readonly scope: string })[],
): Partial<Record<SumScope, BudgetUsage>> {
  return Object.fromEntries(rows.map(({ scope, ...used }) => [scope, used]));
}

function usedByRun(reader: Reader, run_id: string): Promise<BudgetUsage | undefined> {
  return reader.get(sql`select ${OF_RUN} from budget_runs where run_id = ${run_id}`);
}

/** Part of a transaction that accepts the answer of a person: the runs of the thread may use as much again. */
export function renewThreadBudget(tx: Transaction, thread_id: string): void {
  tx.defer(sumOfThreadDeleted(thread_id));
}

/** Part of the deletion of a thread, after that of its queue rows. */
export async function deleteBudgetOfThread(tx: Transaction, thread_id: string): Promise<void> {
  await tx.run(sumOfThreadDeleted(thread_id));
}

function sumOfThreadDeleted(thread_id: string): Sql {
  return sql`delete from budget_sums where scope = 'thread' and subject = ${thread_id}`;
}

export type BudgetRepository = ReturnType<typeof budgetRepository>;

/** What was used of budgets; attempts write it (`WriteBuffer`). */
export function budgetRepository(db: Db) {
  return {
    /** Before or between charges. */
    async used(subjects: BudgetSubjects, day: string, run_id?: string): Promise<BudgetsUsed> {
      const run = run_id === undefined ? undefined : await usedByRun(db, run_id);
      const keys = keysOf(subjects, day);
      if (keys.length === 0) return { ...(run && { run }) };
      const wanted = keys.map(
        (key) => sql`(scope = ${key.scope} and subject = ${key.subject} and day = ${key.day})`,
      );
      const sums = await db.all(sql`select ${OF_SUM} from budget_sums where ${or(wanted)}`);
      return { ...byScope(sums), ...(run && { run }) };
    },

    /** Deletes up to `limit` sums of days before this one; returns how many. */
    deleteDaysBefore(day: string, limit: number): Promise<number> {
      return db.run(sql`delete from budget_sums where (scope, subject, day) in (
        select scope, subject, day from budget_sums where day <> '' and day < ${day} limit ${limit})`);
    },

    /** Deletes what up to `limit` ended runs have used, which their sums still hold; returns how many. */
    deleteEndedRuns(limit: number): Promise<number> {
      return db.run(sql`delete from budget_runs where run_id in (
        select run_id from budget_runs
        where not exists (select 1 from run_queue where run_queue.run_id = budget_runs.run_id) limit ${limit})`);
    },
  };
}

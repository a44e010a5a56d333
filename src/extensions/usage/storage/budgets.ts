import { columns } from '../../../db/columns.ts';
import type { Db, Reader, Transaction } from '../../../db/db.ts';
import { insertRowsReturning } from '../../../db/rows.ts';
import { and, or, raw, sql } from '../../../db/sql.ts';

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

/** Whose usage is summed up by day. */
const DAY_SCOPES = ['user_day', 'key_day', 'day'] as const;
/** That of a thread is summed up for as long as it exists. */
export type SumScope = 'thread' | (typeof DAY_SCOPES)[number];

/** Which sums a run is part of: ids by scope; those without a budget are absent. */
export type BudgetSubjects = Readonly<Partial<Record<SumScope, string>>>;

/** By scope; a scope without usage may be absent. */
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

const USAGE = 'tokens, cost_nanos, steps';
const OF_RUN = columns('budget_runs', USAGE);
const OF_SUM = columns('budget_sums', `scope, ${USAGE}`);
const OF_THREAD = columns('budget_threads', USAGE);

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
  const more = {
    tokens: totals.tokens - charged.tokens,
    cost_nanos: totals.cost_nanos - charged.cost_nanos,
    steps: totals.steps - charged.steps,
  };
  const [thread, days] = await Promise.all([
    subjects.thread === undefined ? undefined : addToThread(tx, subjects.thread, more),
    addToDays(tx, keysOf(subjects, day), more),
  ]);
  return { ...days, ...(thread && { thread }) };
}

/** Nothing if the thread is deleted. */
function addToThread(
  tx: Transaction,
  thread_id: string,
  more: BudgetUsage,
): Promise<BudgetUsage | undefined> {
  return tx.get(sql`update budget_threads set tokens = tokens + ${more.tokens},
    cost_nanos = cost_nanos + ${more.cost_nanos}, steps = steps + ${more.steps}
    where thread_id = ${thread_id} returning ${OF_THREAD}`);
}

async function addToDays(
  tx: Transaction,
  keys: ReturnType<typeof keysOf>,
  { tokens, cost_nanos, steps }: BudgetUsage,
): Promise<BudgetsUsed> {
  if (keys.length === 0) return {};
  const sums = await insertRowsReturning(
    tx,
    sql`budget_sums (scope, subject, day, tokens, cost_nanos, steps)`,
    keys.map((key) => sql`(${key.scope}, ${key.subject}, ${key.day}, ${tokens}, ${cost_nanos}, ${steps})`),
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
  return DAY_SCOPES.flatMap((scope) => {
    const subject = subjects[scope];
    return subject === undefined ? [] : [{ scope, subject, day }];
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

/**
 * Part of a transaction that has locked the thread: from now on its usage is summed up. An attempt could not add the row: it
 * holds the head of the thread, and the reference would wait for the lock of the thread, against the order of locks.
 */
export function openThreadBudget(tx: Transaction, thread_id: string): void {
  tx.defer(sql`insert into budget_threads (thread_id, tokens, cost_nanos, steps) values (${thread_id}, 0, 0, 0)
    on conflict (thread_id) do nothing`);
}

/** Part of a transaction that accepts the answer of a person: the runs of the thread may use as much again. */
export function renewThreadBudget(tx: Transaction, thread_id: string): void {
  tx.defer(
    sql`update budget_threads set tokens = 0, cost_nanos = 0, steps = 0 where thread_id = ${thread_id}`,
  );
}

/** Before or between charges. */
export async function usedOf(
  reader: Reader,
  subjects: BudgetSubjects,
  day: string,
  run_id?: string,
): Promise<BudgetsUsed> {
  const keys = keysOf(subjects, day);
  const wanted = keys.map(
    (key) => sql`(scope = ${key.scope} and subject = ${key.subject} and day = ${key.day})`,
  );
  const [run, thread, days] = await Promise.all([
    run_id === undefined ? undefined : usedByRun(reader, run_id),
    subjects.thread === undefined
      ? undefined
      : reader.get(sql`select ${OF_THREAD} from budget_threads where thread_id = ${subjects.thread}`),
    keys.length === 0 ? [] : reader.all(sql`select ${OF_SUM} from budget_sums where ${or(wanted)}`),
  ]);
  return { ...byScope(days), ...(thread && { thread }), ...(run && { run }) };
}

/** Sums that are reported. */
const LARGEST = 100;
const OF_SUBJECT = columns('budget_sums', 'scope, subject, tokens, cost_nanos, steps');

/** What was used today of a budget of days. */
export interface DaySubject extends BudgetUsage {
  readonly scope: (typeof DAY_SCOPES)[number];
  /** The user or the key; empty for the server. */
  readonly subject: string;
}

interface LargestSums {
  readonly scope: DaySubject['scope'];
  readonly day: string;
  readonly by: keyof BudgetUsage;
  readonly subject: string | undefined;
}

export type BudgetRepository = ReturnType<typeof budgetRepository>;

/** What was used of budgets; attempts write it (`chargeBudgets`). */
export function budgetRepository(db: Db) {
  return {
    used: (subjects: BudgetSubjects, day: string, run_id?: string): Promise<BudgetsUsed> =>
      usedOf(db, subjects, day, run_id),

    /** The sums of a day with most of `by`, or that of `subject`. */
    largest({ scope, day, by, subject }: LargestSums): Promise<readonly DaySubject[]> {
      return db.all(sql`select ${OF_SUBJECT} from budget_sums
        where ${and([sql`day = ${day} and scope = ${scope}`, subject === undefined ? undefined : sql`subject = ${subject}`])}
        order by ${raw(by)} desc, subject limit ${LARGEST}`);
    },

    /** Deletes up to `limit` sums of days before this one; returns how many. */
    deleteDaysBefore(day: string, limit: number): Promise<number> {
      return db.run(sql`delete from budget_sums where (scope, subject, day) in (
        select scope, subject, day from budget_sums where day < ${day} limit ${limit})`);
    },

    /** Deletes what up to `limit` ended runs have used, which their sums still hold; returns how many. */
    deleteEndedRuns(limit: number): Promise<number> {
      return db.run(sql`delete from budget_runs where run_id in (
        select run_id from budget_runs
        where not exists (select 1 from run_queue where run_queue.run_id = budget_runs.run_id) limit ${limit})`);
    },
  };
}

import type { Clock } from '../../core/clock.ts';
import { columns } from '../../db/columns.ts';
import type { Transaction } from '../../db/db.ts';
import { decryptJsonColumns } from '../../db/encryption/cipher.ts';
import { sql } from '../../db/sql.ts';
import type { Interrupt } from '../../schemas/threads.ts';
import type { AddedRun, Refusal, Rider } from '../../storage/riders.ts';
import { THREAD_COLUMNS } from '../../storage/threads/row.ts';
import { accountOf, type UsageCargo } from './account.ts';
import { type BudgetRules, budgetError, budgetSubjects, exhaustedBudget } from './budgets.ts';
import { isThreadBudgetInterrupt } from './interrupts.ts';
import { type RequestedBudgetRules, requestedBudgetError } from './requested-budget.ts';
import {
  chargeBudgets,
  chargeUncounted,
  openThreadBudget,
  renewThreadBudget,
  usedOf,
} from './storage/budgets.ts';
import { addToRun, chargeCalls, dayOf } from './storage/charges.ts';

export interface UsageRules extends BudgetRules {
  readonly clock: Clock;
  readonly requested: RequestedBudgetRules;
}

/** Refuses runs whose budget is used up, and charges what attempts use. */
export function usageRider(rules: UsageRules): Rider<never, UsageCargo> {
  const { budgets } = rules;
  return {
    name: 'usage',
    config_keys: ['budget'],
    checkConfig: (config) => requestedBudgetError(rules.requested, config),
    admit: (tx, added) => refusal(tx, rules, added),

    enqueued(tx, added) {
      if (budgets.thread && hasThread(added)) openThreadBudget(tx, added.run.thread_id);
    },

    resumed(tx, { run }, interrupts) {
      if (interrupts.some(isThreadBudgetInterrupt)) renewThreadBudget(tx, run.thread_id);
    },

    async flushed(tx, { run_id, calls, is_lost }, cargo) {
      if (!cargo) return undefined;
      if (calls.length > 0) await chargeCalls(tx, run_id, cargo.account, calls);
      // Like the steps of the run: those of a lost attempt are not stored.
      if (calls.length > 0 && !is_lost) addToRun(tx, run_id, calls);
      if (!cargo.budget) return undefined;
      return is_lost ? chargeUncounted(tx, cargo.budget) : chargeBudgets(tx, cargo.budget);
    },
  };
}

/** A thread that is deleted with its run has no budget. */
function hasThread({ markers }: Pick<AddedRun, 'markers'>): boolean {
  return markers.thread_retention === 'keep';
}

/**
 * The error for a new run whose budget is already exhausted. If a person can be asked, the budget of a thread refuses runs
 * only while the thread waits for the answer.
 */
async function refusal(tx: Transaction, rules: UsageRules, added: AddedRun): Promise<Refusal | undefined> {
  const { budgets, on_budget, clock } = rules;
  const thread_id = hasThread(added) ? added.run.thread_id : undefined;
  const subjects = budgetSubjects(budgets, { ...accountOf(added), thread_id });
  if (Object.keys(subjects).length === 0) return undefined;
  const now = clock.now();
  const used = await usedOf(tx, subjects, dayOf(now));
  const isAsked = on_budget === 'interrupt' && exhaustedBudget(budgets, used)?.scope === 'thread';
  const mayGoOn = isAsked && (added.answer !== undefined || !(await waitsForBudget(tx, added.run.thread_id)));
  const { thread: _, ...others } = used;
  const exhausted = exhaustedBudget(budgets, mayGoOn ? others : used);
  return exhausted && budgetError(exhausted, rules, now);
}

/** Whether the thread waits for an answer about its own budget. */
async function waitsForBudget(tx: Transaction, thread_id: string): Promise<boolean> {
  const row = await tx.get(
    sql`select ${columns('threads', 'interrupts')} from threads where thread_id = ${thread_id}`,
  );
  if (!row) return false;
  const { interrupts } = decryptJsonColumns(tx.cipher, row, { interrupts: THREAD_COLUMNS.interrupts });
  return Object.values((interrupts ?? {}) as Record<string, Interrupt[]>)
    .flat()
    .some(isThreadBudgetInterrupt);
}

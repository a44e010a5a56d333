import { isErrorLike } from '../../core/failure.ts';
import type { CheckpointGate } from '../../graphs/checkpointer/open.ts';
import { budgetOf } from '../../services/assistants/run-budget.ts';
import type { ClaimedRun } from '../../storage/queue/claim.ts';
import type { WriteBuffer } from '../../storage/runs/write-buffer.ts';
import type { AttemptLimit, Stop } from '../../workers/attempt-observer.ts';
import { BudgetMeter } from './budget-meter.ts';
import {
  type BudgetDeps,
  type BudgetRules,
  budgetReason,
  budgetSubjects,
  type ExhaustedBudget,
  exhaustedBudget,
} from './budgets.ts';
import { budgetInterrupts } from './interrupts.ts';
import type { BudgetSubjects } from './storage/budgets.ts';
import { dayOf, type UsageAccount } from './storage/charges.ts';

/** Why a run ended although its graph had more to do. */
export class BudgetExceeded extends Error {
  override readonly name = 'BudgetExceeded';
  readonly exhausted: ExhaustedBudget;

  constructor(exhausted: ExhaustedBudget, rules: BudgetRules) {
    super(budgetReason(exhausted, rules));
    this.exhausted = exhausted;
  }
}

/** The budgets of an attempt; `undefined` without any. */
export function openBudget(
  deps: BudgetDeps,
  claimed: ClaimedRun,
  account: UsageAccount,
  now: () => number,
): RunBudget | undefined {
  const request = budgetOf(claimed.run.kwargs.config);
  const budgets = { ...deps.budgets, ...(request && { request }) };
  if (Object.keys(budgets).length === 0) return undefined;
  return new RunBudget({ ...deps, budgets }, claimed, account, now);
}

/**
 * The budgets of an attempt. What each superstep used is committed before the next one begins, in the transaction of its
 * checkpoint; if a budget is then used up, the graph is drained: it begins no further superstep. Runs that share a budget
 * exceed it by the superstep that each of them executes when it is used up, and by no more.
 */
export class RunBudget implements AttemptLimit {
  readonly meter: BudgetMeter;
  readonly #deps: BudgetDeps;
  readonly #drain = new AbortController();
  readonly #run_id: string;
  readonly #subjects: BudgetSubjects;
  readonly #now: () => number;
  /** The next superstep is that of the input, which executes no node. */
  #isInput = false;
  #exceeded: BudgetExceeded | undefined;

  constructor(deps: BudgetDeps, claimed: ClaimedRun, account: UsageAccount, now: () => number) {
    const { run_id, thread_id } = claimed.lease;
    const isTemporary = claimed.markers.thread_retention !== 'keep';
    const owner = { ...account, thread_id: isTemporary ? undefined : thread_id };
    this.#deps = deps;
    this.#run_id = run_id;
    this.#subjects = budgetSubjects(deps.budgets, owner);
    this.#now = now;
    this.meter = new BudgetMeter({ run_id, subjects: this.#subjects }, now);
  }

  /** Aborted when a budget is used up. */
  get drain(): AbortSignal {
    return this.#drain.signal;
  }

  /** Continues from what earlier attempts, and other runs, have used. */
  async open(): Promise<void> {
    this.meter.open(await this.#deps.used(this.#subjects, dayOf(this.#now()), this.#run_id));
    this.#check();
  }

  /** Counts and checks at each checkpoint; `writes`: the buffer that stores them. */
  gate(writes: Pick<WriteBuffer, 'commit'>): CheckpointGate {
    return {
      before: ({ ns, metadata }) => {
        if (ns === '') this.#count(JSON.parse(metadata).source);
      },
      after: async () => {
        await writes.commit('async');
        this.#check();
      },
    };
  }

  stopOf(failure: unknown): Stop | undefined {
    const error = isErrorLike(failure) && failure.name === 'GraphDrained' ? this.#exceeded : undefined;
    if (!error) return undefined;
    const { exhausted } = error;
    const { scope, limit } = exhausted;
    const mayAsk = this.#deps.on_budget === 'interrupt';
    return {
      error,
      label: { scope, limit },
      ask: mayAsk ? (state) => budgetInterrupts(this.#run_id, exhausted, state, this.#deps) : undefined,
    };
  }

  #count(source: unknown): void {
    if (source === 'input') this.#isInput = true;
    else if (source === 'loop' && !this.#isInput) this.meter.addSuperstep();
    else this.#isInput = false;
  }

  #check(): void {
    const exhausted = exhaustedBudget(this.#deps.budgets, this.meter.used);
    if (!exhausted) return;
    this.#exceeded ??= new BudgetExceeded(exhausted, this.#deps);
    this.#drain.abort();
  }
}

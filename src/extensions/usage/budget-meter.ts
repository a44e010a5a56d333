import type { PricedStep } from '../../schemas/steps.ts';
import { type BudgetCharge, type BudgetSubjects, type BudgetsUsed, NOTHING_USED } from './storage/budgets.ts';
import { dayOf, NANOS } from './storage/charges.ts';

/** Counts what a run uses, in the attempt that executes it. Each batch of the attempt stores what is new. */
export class BudgetMeter {
  readonly #run_id: string;
  readonly #subjects: BudgetSubjects;
  readonly #now: () => number;
  #totals = NOTHING_USED;
  #used: BudgetsUsed = {};
  #isOpen = false;

  /** `now`: epoch ms, which decides on whose day it counts. */
  constructor({ run_id, subjects }: Pick<BudgetCharge, 'run_id' | 'subjects'>, now: () => number) {
    this.#run_id = run_id;
    this.#subjects = subjects;
    this.#now = now;
  }

  /** What the run and those that it shares budgets with have used, as of the last charge. */
  get used(): BudgetsUsed {
    return this.#used;
  }

  /** Continues from what earlier attempts have used. Before this, nothing is charged. */
  open(used: BudgetsUsed): void {
    this.#used = used;
    this.#totals = used.run ?? NOTHING_USED;
    this.#isOpen = true;
  }

  /** Only calls of models use tokens. */
  addStep({ kind, tokens_in, tokens_out, cost }: PricedStep): void {
    if (kind !== 'model') return;
    const { tokens, cost_nanos, steps } = this.#totals;
    this.#totals = {
      tokens: tokens + (tokens_in ?? 0) + (tokens_out ?? 0),
      cost_nanos: cost_nanos + Math.round((cost ?? 0) * NANOS),
      steps,
    };
  }

  addSuperstep(): void {
    this.#totals = { ...this.#totals, steps: this.#totals.steps + 1 };
  }

  /** To be stored with the next batch; `undefined` if nothing was used since the last one. */
  charge(): BudgetCharge | undefined {
    const charged = this.#used.run ?? NOTHING_USED;
    if (!this.#isOpen || this.#totals === charged) return undefined;
    const day = dayOf(this.#now());
    return { run_id: this.#run_id, subjects: this.#subjects, day, totals: this.#totals, charged };
  }

  /** A charge was committed. */
  charged(used: BudgetsUsed): void {
    this.#used = used;
  }
}

import { Conflict, type ServerError, TooManyRequests } from '../../core/errors.ts';
import type { RunBudget } from '../../schemas/run-budget.ts';
import type {
  BudgetRepository,
  BudgetSubjects,
  BudgetsUsed,
  BudgetUsage,
  SumScope,
} from './storage/budgets.ts';
import { NANOS } from './storage/charges.ts';

/** Limits of one budget; an undefined limit does not apply. */
type BudgetLimits = Readonly<RunBudget>;

/** `request`: the run's own, from its request or its assistant. */
type BudgetScope = SumScope | 'run' | 'request';

/** Budgets by scope; a scope without a limit is absent. */
export type Budgets = Readonly<Partial<Record<BudgetScope, BudgetLimits>>>;

/** How a run ends that reaches a budget. */
export type OnBudget = 'error' | 'interrupt';

export interface BudgetRules {
  readonly budgets: Budgets;
  readonly on_budget: OnBudget;
  readonly currency: string;
}

/** Budget rules, and access to the stored usage. */
export interface BudgetDeps extends BudgetRules {
  readonly used: BudgetRepository['used'];
}

/** A budget that is used up. */
export interface ExhaustedBudget {
  readonly scope: BudgetScope;
  readonly limit: keyof BudgetLimits;
  /** The limit. */
  readonly max: number;
  /** Usage; at least `max`. */
  readonly used: number;
}

/** Whose usage counts; ids are empty strings without a user or key. */
export interface BudgetOwner {
  /** `undefined` for a thread that is deleted with its run. */
  readonly thread_id: string | undefined;
  readonly user_id: string;
  readonly key_id: string;
}

/** The limited sums that a run adds to. */
export function budgetSubjects(
  budgets: Budgets,
  { thread_id, user_id, key_id }: BudgetOwner,
): BudgetSubjects {
  return {
    ...(budgets.thread && thread_id && { thread: thread_id }),
    ...(budgets.user_day && user_id && { user_day: user_id }),
    ...(budgets.key_day && key_id && { key_day: key_id }),
    ...(budgets.day && { day: '' }),
  };
}

/** Budgets that reset soonest come last: waiting for them would not help while another is exhausted. */
const ORDER: readonly BudgetScope[] = ['request', 'run', 'thread', 'user_day', 'key_day', 'day'];

export function exhaustedBudget(budgets: Budgets, used: BudgetsUsed): ExhaustedBudget | undefined {
  return ORDER.map((scope) =>
    exhaustedLimit(scope, budgets[scope], used[scope === 'request' ? 'run' : scope]),
  ).find(Boolean);
}

function exhaustedLimit(
  scope: BudgetScope,
  { max_tokens, max_cost, max_steps }: BudgetLimits = {},
  { tokens, cost_nanos, steps }: BudgetUsage = { tokens: 0, cost_nanos: 0, steps: 0 },
): ExhaustedBudget | undefined {
  if (max_tokens !== undefined && tokens >= max_tokens)
    return { scope, limit: 'max_tokens', max: max_tokens, used: tokens };
  if (max_cost !== undefined && cost_nanos >= Math.round(max_cost * NANOS))
    return { scope, limit: 'max_cost', max: max_cost, used: cost_nanos / NANOS };
  if (max_steps !== undefined && steps >= max_steps)
    return { scope, limit: 'max_steps', max: max_steps, used: steps };
  return undefined;
}

/** Configuration key of a limit, in the run's or the server's configuration. */
export function budgetKey({ scope, limit }: Pick<ExhaustedBudget, 'scope' | 'limit'>): string {
  if (scope === 'request') return `config.budget.${limit}`;
  return scope === 'run' ? `runs.${limit}` : `runs.budgets.${scope}.${limit}`;
}

const WHO: Record<BudgetScope, string> = {
  request: 'The run has',
  run: 'The run has',
  thread: 'The runs of the thread have',
  user_day: 'The user has',
  key_day: 'The API key has',
  day: 'All runs of the server have',
};

const GO_ON = 'A new run of the thread with `input: null` continues from its last step.';
const WAY_OUT: Record<BudgetScope, string> = {
  request: GO_ON,
  run: GO_ON,
  thread: 'Continue in another thread.',
  user_day: 'The budget resets at midnight UTC.',
  key_day: 'The budget resets at midnight UTC.',
  day: 'The budget resets at midnight UTC.',
};

const ANSWER = "Answer the thread's interrupt to allow its runs the same amount again.";

/** Explains which budget is exhausted, and what to do. */
export function budgetReason(
  exhausted: ExhaustedBudget,
  { currency, on_budget }: Omit<BudgetRules, 'budgets'>,
): string {
  const { scope, limit, max, used } = exhausted;
  const unit = { max_tokens: 'tokens', max_cost: currency, max_steps: 'steps' }[limit];
  const key = budgetKey(exhausted);
  const when = scope.endsWith('day') ? ' today' : '';
  const wayOut = scope === 'thread' && on_budget === 'interrupt' ? ANSWER : WAY_OUT[scope];
  return `${WHO[scope]} used ${used} of ${max} ${unit}${when} (${key}). ${wayOut} Or raise ${key}.`;
}

const DAY_S = 86_400;

/** The error of a new run: until midnight UTC for the budget of a day. */
export function budgetError(exhausted: ExhaustedBudget, rules: BudgetRules, now: number): ServerError {
  const reason = budgetReason(exhausted, rules);
  if (exhausted.scope === 'thread') return new Conflict(reason);
  return new TooManyRequests(reason, DAY_S - (Math.floor(now / 1000) % DAY_S));
}

import type { Actor } from '../../auth/actor.ts';
import { authorize } from '../../auth/authorize.ts';
import type { Clock } from '../../core/clock.ts';
import { Forbidden, InvalidInput, NotFound } from '../../core/errors.ts';
import { pageOf } from '../../services/pagination.ts';
import type { Budgets } from './budgets.ts';
import type {
  BudgetReport,
  RunUsageReport,
  RunUsageSearch,
  ThreadUsage,
  Usage,
  UsageGroup,
  UsageKey,
  UsageReport,
  UsageSearch,
} from './schemas.ts';
import type { BudgetRepository, DaySubject } from './storage/budgets.ts';
import { dayOf, NANOS, type UsageSums } from './storage/charges.ts';
import type { UsageRepository, UsageRow } from './storage/reports.ts';
import type { RunUsageRepository } from './storage/runs.ts';

const DAY_MS = 86_400_000;
/** Default length of a report, days. */
const USUAL_DAYS = 30;

export interface UsageDeps {
  readonly usage: UsageRepository;
  readonly runs: RunUsageRepository;
  readonly budgets: BudgetRepository;
  readonly limits: Budgets;
  readonly clock: Clock;
  readonly currency: string;
}

export type UsageService = ReturnType<typeof usageService>;

/** Totals of the tokens and cost of runs. */
export function usageService({ usage, runs, budgets, limits, clock, currency }: UsageDeps) {
  return {
    /**
     * A caller who may not see every thread gets their own usage only: usage outlives its threads, so access
     * rules on thread metadata cannot apply. Throws `Forbidden` if such a caller is not a user, and
     * `InvalidInput` for days in the wrong order.
     */
    async report(actor: Actor, { by, limit, offset, user, ...query }: UsageSearch): Promise<UsageReport> {
      const own = await ownUser(actor);
      const to = query.to ?? dayOf(clock.now());
      const from = query.from ?? dayOf(Date.parse(to) - (USUAL_DAYS - 1) * DAY_MS);
      if (from > to) throw new InvalidInput(`from (${from}) must not be after to (${to})`);
      const isHidden = own !== undefined && user !== undefined && user !== own;
      const { assistant_id, key, model } = query;
      const filter = { from, to, assistant_id, key, model, user: own ?? user };
      const keys = [...new Set(by)];
      const rows = isHidden ? [] : await usage.sum({ ...filter, by: keys, limit: limit + 1, offset });
      const { items, next } = pageOf(rows, limit, offset);
      return { currency, from, to, groups: items.map((row) => groupOf(row, keys)), next: next ?? null };
    },

    /** Of those runs that the caller may see and that called models. */
    async runs(actor: Actor, { run_ids }: RunUsageSearch): Promise<RunUsageReport> {
      const found = await runs.ofRuns(run_ids, await authorize(actor, 'threads:search', {}));
      return { currency, runs: found.map(({ run_id, ...sums }) => ({ run_id, ...usageOf(sums) })) };
    },

    /** Throws `NotFound` for a thread that the caller cannot see. */
    async thread(actor: Actor, thread_id: string): Promise<ThreadUsage> {
      const found = await runs.ofThread(thread_id, await authorize(actor, 'threads:read', { thread_id }));
      if (!found) throw new NotFound('Thread not found');
      const { runs: counted, ...sums } = found;
      return { currency, runs: counted, ...usageOf(sums) };
    },

    /** A caller who may not see every thread gets their own budget only; throws as `report` does. */
    async budgets(actor: Actor): Promise<BudgetReport> {
      const own = await ownUser(actor);
      const day = dayOf(clock.now());
      const scopes = (own === undefined ? DAYS : (['user_day'] as const)).filter((scope) => limits[scope]);
      const used = await Promise.all(
        scopes.map((scope) => budgets.largest({ scope, day, by: mainLimit(limits[scope]), subject: own })),
      );
      return {
        currency,
        day,
        run: limits.run ? limitsOf(limits.run) : null,
        thread: limits.thread ? limitsOf(limits.thread) : null,
        budgets: used.flat().map(({ cost_nanos, ...sum }) => ({
          ...sum,
          ...limitsOf(limits[sum.scope] ?? {}),
          cost: cost_nanos / NANOS,
        })),
      };
    },
  };
}

const DAYS: readonly DaySubject['scope'][] = ['day', 'user_day', 'key_day'];

type Limits = NonNullable<Budgets['day']>;

function limitsOf({ max_tokens = null, max_cost = null, max_steps = null }: Nullable<Limits>) {
  return { max_tokens, max_cost, max_steps };
}

type Nullable<T> = { readonly [K in keyof T]?: T[K] | null };

/** The limit that is worth most to know about. */
function mainLimit({ max_cost, max_tokens }: Limits = {}): 'cost_nanos' | 'tokens' | 'steps' {
  if (max_cost !== undefined) return 'cost_nanos';
  return max_tokens !== undefined ? 'tokens' : 'steps';
}

function usageOf({ cost_nanos, ...sums }: UsageSums): Usage {
  return { ...sums, cost: cost_nanos / NANOS };
}

async function ownUser(actor: Actor): Promise<string | undefined> {
  const visibility = await authorize(actor, 'threads:search', {});
  if (!visibility) return undefined;
  if (!actor.user)
    throw new Forbidden('This key or token does not belong to a user and may not see the usage of others.');
  return actor.user.identity;
}

const FIELD = {
  day: 'day',
  assistant: 'assistant_id',
  user: 'user',
  key: 'key_id',
  model: 'model',
} as const satisfies Record<UsageKey, keyof UsageGroup>;

function groupOf(row: UsageRow, by: readonly UsageKey[]): UsageGroup {
  const { day, assistant, user, key: key_id, model, ...sums } = row;
  const keys = { day, assistant_id: assistant, user, key_id, model };
  const asked = by.map((key) => FIELD[key]);
  return {
    ...Object.fromEntries(asked.map((key) => [key, keys[key]])),
    ...usageOf(sums),
  };
}

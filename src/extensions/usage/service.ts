import type { Actor } from '../../auth/actor.ts';
import { authorize } from '../../auth/authorize.ts';
import type { Clock } from '../../core/clock.ts';
import { Forbidden, InvalidInput } from '../../core/errors.ts';
import { pageOf } from '../../services/pagination.ts';
import type { UsageGroup, UsageKey, UsageReport, UsageSearch } from './schemas.ts';
import { dayOf, NANOS } from './storage/charges.ts';
import type { UsageRepository, UsageRow } from './storage/reports.ts';

const DAY_MS = 86_400_000;
/** Default length of a report, days. */
const USUAL_DAYS = 30;

export interface UsageDeps {
  readonly usage: Pick<UsageRepository, 'sum'>;
  readonly clock: Clock;
  readonly currency: string;
}

export type UsageService = ReturnType<typeof usageService>;

/** Totals of the tokens and cost of runs. */
export function usageService({ usage, clock, currency }: UsageDeps) {
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
  };
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
  const { day, assistant, user, key: key_id, model, cost_nanos, ...sums } = row;
  const keys = { day, assistant_id: assistant, user, key_id, model };
  const asked = by.map((key) => FIELD[key]);
  return {
    ...Object.fromEntries(asked.map((key) => [key, keys[key]])),
    ...sums,
    cost: cost_nanos / NANOS,
  };
}

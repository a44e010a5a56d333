import type { Rule } from '../../auth/actor.ts';
import { type Clock, timestamp } from '../../core/clock.ts';
import { NotFound } from '../../core/errors.ts';
import { isLastingRefusal, isTemporary } from '../../core/failure-class.ts';
import type { Logger } from '../../core/logger.ts';
import { withDeadline } from '../../core/timers.ts';
import type { CronRepository } from '../../storage/crons/crons.ts';
import type { CronTimes } from '../../storage/crons/row.ts';
import type { CronTick } from '../../storage/queue/fire-cron.ts';
import { confirmSubmission, newRun, type SubmitDeps } from '../runs/submit.ts';
import type { CronDeferrals } from './cron-deferrals.ts';
import { type CronRunDeps, cronSubmission } from './cron-runs.ts';
import { nextDate } from './stored-cron.ts';

/** Policy for ticks missed while no server was running: one run for all of them, or none. */
export type MissedPolicy = 'fire_once' | 'skip';

export interface CronTickDeps extends CronRunDeps, SubmitDeps {
  readonly crons: CronRepository;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly missed: MissedPolicy;
  readonly deferrals: CronDeferrals;
  /** Timeout of each access rule, ms; default 10 s. The tick fails when it expires. */
  readonly rule_limit_ms?: number;
}

/** A tick older than this counts as missed, ms; cron schedules have minute resolution. */
const MISSED_AFTER_MS = 60_000;
/** Above the timeout of handlers in graph hosts, which leaves the tick due. */
const RULE_LIMIT_MS = 10_000;
/** Crons fired concurrently: enough to share a group commit, few enough not to delay other writers. */
const BATCH = 20;
const PAGE = 100;

export type CronTicks = ReturnType<typeof cronTicks>;

/** Fires due crons; safe on several servers with one database (invariant 6). */
export function cronTicks(deps: CronTickDeps) {
  const { crons, clock, deferrals } = deps;

  return {
    /** Time of the next tick, or of the next retry of a deferred cron; `undefined` if there is none. */
    async nextDue(): Promise<string | undefined> {
      const dates = [await crons.nextDue(deferrals.ids), deferrals.next];
      return dates.filter((date) => date !== undefined).sort()[0];
    },

    /**
     * Enqueues the runs of all due crons. Rejects if the database is unavailable for some of them: their ticks
     * stay due while the others fire. A tick whose access rules do not answer also stays due and is retried
     * later.
     */
    async fireDue(): Promise<void> {
      while (await fireEach(deps));
    },

    /**
     * Recomputes dates that were calculated with another clock or time zone database: the clock was set back, or the
     * program was updated. A tick never fires twice.
     */
    async recalculateDates(): Promise<void> {
      const now_ms = clock.now();
      let page: CronTimes[] = [];
      do {
        page = await crons.upcoming(timestamp(now_ms), page.at(-1)?.cron_id, PAGE);
        for (const cron of page) {
          await disableOnRefusal(deps, cron, async () => {
            const next = nextDate(cron, now_ms);
            if (next !== cron.next_run_date) await crons.reschedule(cron, next);
          });
        }
      } while (page.length === PAGE);
    },
  };
}

/** Fires each due cron once, even if others fail, then throws the first failure. `false` if none was due. */
async function fireEach(deps: CronTickDeps): Promise<boolean> {
  const { crons, clock, bus, deferrals } = deps;
  const failures: unknown[] = [];
  const ids = new Set<string>();
  let isServed = false;
  let last: CronTimes | undefined;
  let due: CronTimes[];
  do {
    due = await crons.due(timestamp(clock.now()), last, BATCH);
    const ready = due.filter(({ cron_id }) => !deferrals.isDeferred(cron_id));
    const served = await Promise.allSettled(ready.map((cron) => serve(deps, cron)));
    for (const { cron_id } of ready) bus.emit('row.changed', 'cron', cron_id);
    for (const { cron_id } of due) ids.add(cron_id);
    isServed ||= ready.length > 0;
    for (const each of served) if (each.status === 'rejected') failures.push(each.reason);
    last = due.at(-1) ?? last;
  } while (due.length === BATCH);
  deferrals.keep(ids);
  if (failures.length > 0) throw failures[0];
  return isServed;
}

function serve(deps: CronTickDeps, cron: CronTimes): Promise<void> {
  const { cron_id, next_run_date: tick } = cron;
  const rules = impersonateInTime(deps);
  return disableOnRefusal(deps, cron, async () => {
    try {
      await fire({ ...deps, impersonate: rules.impersonate }, cron);
    } catch (error) {
      if (isTemporary(error) && rules.unavailable()) {
        const again_in_ms = deps.deferrals.defer(cron_id, error.message);
        return deps.logger.warn('cron deferred: its access rules do not answer', {
          cron_id,
          tick,
          error,
          again_in_ms,
        });
      }
      if (isTemporary(error) || isLastingRefusal(error)) throw error;
      deps.logger.error("cannot create a cron's run", { cron_id, tick, error });
      const detail = 'The run could not be created; see the server log.';
      await deps.queue.fireCron({ ...firing(deps, cron), run: { outcome: 'failed', detail } });
    }
  });
}

/** Disables a cron on a client error that would recur at every tick. */
async function disableOnRefusal(
  deps: CronTickDeps,
  cron: CronTimes,
  act: () => Promise<void>,
): Promise<void> {
  try {
    await act();
  } catch (error) {
    if (!isLastingRefusal(error)) throw error;
    await disable(deps, cron, error.message);
  }
}

async function fire(deps: CronTickDeps, times: CronTimes): Promise<void> {
  const due = firing(deps, times);
  const log = deps.logger.with({ cron_id: times.cron_id, tick: due.tick });
  const detail = skipReason(deps, times, due);
  if (detail) {
    await deps.queue.fireCron({ ...due, run: { outcome: 'skipped', detail } });
    log.info('cron skipped', { detail });
    return;
  }
  // Load the payload only now: a cron that fails to decrypt must not block the others.
  const cron = await deps.crons.get(times.cron_id);
  if (!cron) return;
  const submission = await cronSubmission(deps, cron);
  const request = newRun(deps, submission);
  const fired = await deps.queue.fireCron({ ...due, run: request });
  if (fired.outcome === 'taken' || fired.outcome === 'passed') return;
  if (fired.outcome === 'rejected') {
    log.info('cron rejected: another run of its thread is in flight', { blocking: fired.blocking });
    return;
  }
  // The next tick may be admitted: unlike other refusals, this one does not disable the cron.
  if (fired.outcome === 'refused') return log.warn('cron refused', { detail: fired.refusal.message });
  if (fired.outcome === 'missing thread') throw new NotFound(`Thread with ID '${cron.thread_id}' not found`);
  const { run_id, thread_id } = confirmSubmission(deps, request, fired);
  log.info('cron fired', { run_id, thread_id });
}

/**
 * Access rules are project code: one that never answers would block all crons. The database has its own
 * timeouts. `unavailable`: whether a rule could not be reached.
 */
function impersonateInTime({ impersonate, rule_limit_ms = RULE_LIMIT_MS }: CronTickDeps): {
  readonly impersonate: CronTickDeps['impersonate'];
  readonly unavailable: () => boolean;
} {
  let isAway = false;
  const inTime =
    (rule: Rule): Rule =>
    async (event, value) => {
      try {
        return await withDeadline(rule_limit_ms, Promise.resolve(rule(event, value)));
      } catch (error) {
        isAway ||= isTemporary(error);
        throw error;
      }
    };
  return {
    impersonate(user, request_id) {
      const actor = impersonate(user, request_id);
      return { ...actor, rules: actor.rules.map(inTime) };
    },
    unavailable: () => isAway,
  };
}

function firing({ clock }: CronTickDeps, cron: CronTimes): Omit<CronTick, 'run'> {
  const tick = cron.next_run_date as string;
  const tick_ms = Date.parse(tick);
  const now_ms = Math.max(clock.now(), tick_ms);
  return {
    cron_id: cron.cron_id,
    tick,
    next: nextDate(cron, now_ms),
    following: nextDate(cron, tick_ms),
    at: timestamp(now_ms),
  };
}

/** Why a due tick creates no run; `undefined` if it does. */
function skipReason(
  { missed }: CronTickDeps,
  { ends_at }: CronTimes,
  { tick, at }: Omit<CronTick, 'run'>,
): string | undefined {
  if (Date.parse(at) - Date.parse(tick) <= MISSED_AFTER_MS) return undefined;
  if (ends_at !== null && at > ends_at)
    return 'No server was running at this time, and the cron has since ended.';
  return missed === 'skip' ? 'No server was running at this time.' : undefined;
}

async function disable(
  { crons, clock, logger }: CronTickDeps,
  cron: CronTimes,
  reason: string,
): Promise<void> {
  if (!(await crons.disable(cron, reason, timestamp(clock.now())))) return;
  logger.warn('cron disabled', { cron_id: cron.cron_id, reason });
}

import type { Actor } from '../../auth/actor.ts';
import { authorize } from '../../auth/authorize.ts';
import type { Clock } from '../../core/clock.ts';
import { NotFound } from '../../core/errors.ts';
import { asSentence } from '../../core/text.ts';
import type { CronExplanation, CronRun } from '../../schemas/crons.ts';
import type { CronFireRepository, CronRepository } from '../../storage/crons/crons.ts';
import type { StoredCron } from '../../storage/crons/row.ts';
import type { RunQueue } from '../../storage/queue/queue.ts';
import type { CronDeferrals } from './cron-deferrals.ts';

export interface CronExplainDeps {
  readonly crons: CronRepository;
  readonly cronFires: CronFireRepository;
  readonly queue: RunQueue;
  readonly clock: Clock;
  readonly deferrals: CronDeferrals;
  /** This process creates the runs of crons. */
  readonly fires_crons: boolean;
}

/** Times listed in an explanation. */
const MAX_FIRES = 5;
/** A tick this late is overdue, ms: a process that slept or missed a notification fires within seconds. */
const OVERDUE_MS = 60_000;

export type CronExplainService = ReturnType<typeof cronExplain>;

/** Explains when a cron fires next, or why it does not, as a sentence and as fields. */
export function cronExplain(deps: CronExplainDeps) {
  const { crons, cronFires, clock } = deps;
  return {
    /** Throws `NotFound` for a missing cron and for one that the actor may not read. */
    async explain(actor: Actor, cron_id: string): Promise<CronExplanation> {
      const cron = await crons.get(cron_id, await authorize(actor, 'crons:read', { cron_id }));
      if (!cron) throw new NotFound('Not Found');
      const fires = await cronFires.list(cron_id, { limit: MAX_FIRES, offset: 0 });
      const { next_run_date } = cron;
      const overdue_ms = next_run_date ? Math.max(0, clock.now() - Date.parse(next_run_date)) : 0;
      const state = stateOf(cron, overdue_ms);
      const sentence = await stateSummary(deps, cron, state);
      return {
        cron_id,
        state,
        summary: `${sentence} ${lastFire(fires)}`,
        schedule: cron.schedule,
        timezone: cron.timezone,
        next_run_date,
        end_time: cron.end_time,
        overdue_ms,
        disabled_reason: cron.disabled_reason,
        fires,
      };
    },
  };
}

function stateOf(
  { enabled, disabled_reason, next_run_date }: StoredCron,
  overdue_ms: number,
): CronExplanation['state'] {
  if (disabled_reason !== null) return 'disabled';
  if (!enabled) return 'paused';
  if (next_run_date === null) return 'ended';
  if (overdue_ms > OVERDUE_MS) return 'overdue';
  return overdue_ms > 0 ? 'due' : 'scheduled';
}

async function stateSummary(
  deps: CronExplainDeps,
  cron: StoredCron,
  state: CronExplanation['state'],
): Promise<string> {
  const { schedule, timezone, next_run_date, end_time, disabled_reason } = cron;
  switch (state) {
    case 'disabled':
      return `Disabled by the server: ${asSentence(disabled_reason ?? '')} Fix this, then PATCH the cron with "enabled": true.`;
    case 'paused':
      return 'Paused: "enabled" is false. PATCH it with "enabled": true to resume it.';
    case 'ended':
      return end_time === null
        ? `Ended: the schedule "${schedule}" has no further date.`
        : `Ended: the schedule has no further date before end_time ${end_time}.`;
    case 'scheduled':
      return `Fires next at ${next_run_date} (schedule "${schedule}", ${timezone ?? 'UTC'}).`;
    case 'due':
      return `Due since ${next_run_date}; ${await whoFires(deps, cron)}`;
    case 'overdue':
      return `Overdue since ${next_run_date}: ${await whoFires(deps, cron)}`;
  }
}

/** Which process should have fired. Other processes do not say whether they fire crons. */
async function whoFires(
  { queue, fires_crons, deferrals }: CronExplainDeps,
  { cron_id }: StoredCron,
): Promise<string> {
  const deferral = deferrals.of(cron_id);
  if (deferral) {
    const { failures, reason, next_try_at } = deferral;
    const times = failures === 1 ? 'once' : `${failures} times`;
    return `this process has tried ${times} and will try again at ${next_try_at}. ${asSentence(reason)}`;
  }
  if (fires_crons)
    return 'this process will fire it as soon as the database answers; see its log for errors.';
  const { workers } = await queue.workerCapacity();
  const own = 'this process fires no crons (crons.enabled is false, or its role is api)';
  // `workers` counts this process too.
  if (workers <= 1) return `${own}, and no other process is running: start one that fires crons.`;
  const other = workers === 2 ? 'the other process' : `one of the ${workers - 1} other processes`;
  return `${own}; ${other} must have crons.enabled; see its log for errors.`;
}

function lastFire([last]: readonly CronRun[]): string {
  if (!last) return 'It has not fired yet, or its history has expired.';
  const { tick, fired_at, outcome, detail, run_id, status } = last;
  const at = tick === null ? `It was last triggered at ${fired_at}` : `Its last time was ${tick}`;
  if (outcome !== 'started') return `${at}, without a run (${outcome}): ${asSentence(detail ?? '')}`;
  if (status === null) return `${at}; its run ${run_id} was deleted.`;
  const isActive = status === 'pending' || status === 'running';
  return `${at}; its run ${run_id} ${isActive ? 'is' : 'ended with status'} ${status}.`;
}

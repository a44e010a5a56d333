import type { Actor } from '../auth/actor.ts';
import { timestamp } from '../core/clock.ts';
import { NotFound } from '../core/errors.ts';
import type { CronRun, CronRunsQuery } from '../schemas/crons.ts';
import type { Run } from '../schemas/runs.ts';
import { both } from '../storage/access/visibility.ts';
import type { CronFireRepository } from '../storage/crons/crons.ts';
import type { StoredCron } from '../storage/crons/row.ts';
import { type CronRunDeps, cronSubmission, runOf } from './cron-runs.ts';
import type { Once } from './idempotency.ts';
import { allowRun } from './run-access.ts';
import { newRun, refuseWhileDraining, type SubmitDeps, submitted } from './run-submit.ts';

export interface CronTriggerDeps extends CronRunDeps, SubmitDeps {
  readonly cronFires: Pick<CronFireRepository, 'list'>;
}

/** Throws `NotFound` for a cron that the actor may not do this to, as for one that is not there. */
export type FindCron = (
  actor: Actor,
  event: 'crons:read' | 'crons:update',
  cron_id: string,
) => Promise<StoredCron>;

/** What a cron makes beyond its schedule, and what it has made. */
export function cronTrigger(deps: CronTriggerDeps, find: FindCron) {
  return {
    /** Makes a run now, also of a cron that is paused or over; when it comes next does not change. */
    async trigger(actor: Actor, cron_id: string, once?: Once): Promise<Run> {
      if (once?.run) return once.run;
      refuseWhileDraining(deps, actor);
      const cron = await find(actor, 'crons:update', cron_id);
      // The run acts as whoever made the cron, who may do more than whoever triggers it.
      const allowed = await allowRun(deps, actor, cron.thread_id, runOf(cron));
      const submission = await cronSubmission(deps, cron);
      const visibility = both(allowed.visibility, submission.visibility);
      const request = newRun(deps, { ...submission, visibility, once });
      const triggered = await deps.queue.triggerCron(cron_id, request, timestamp(deps.clock.now()));
      if (triggered.outcome === 'missing cron') throw new NotFound('Not Found');
      return submitted(deps, request, triggered);
    },

    /** What its times came to, the newest first. */
    async runs(actor: Actor, cron_id: string, query: CronRunsQuery): Promise<CronRun[]> {
      await find(actor, 'crons:read', cron_id);
      return deps.cronFires.list(cron_id, query);
    },
  };
}

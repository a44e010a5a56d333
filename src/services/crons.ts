import type { Actor } from '../auth/actor.ts';
import { timestamp } from '../core/clock.ts';
import { checkSchedule } from '../core/cron-times.ts';
import { BadRequest, InvalidInput, NotFound } from '../core/errors.ts';
import type {
  Cron,
  CronCount,
  CronCreate,
  CronPatch,
  CronRun,
  CronRunsQuery,
  CronSearch,
  ThreadCronCreate,
} from '../schemas/crons.ts';
import type { Run } from '../schemas/runs.ts';
import type { CronFireRepository } from '../storage/cron-fires.ts';
import type { StoredCron } from '../storage/cron-row.ts';
import type { CronRepository } from '../storage/crons.ts';
import { newCron, revisedCron } from './cron-changes.ts';
import { type CronRunDeps, cronSubmission } from './cron-runs.ts';
import type { Once } from './idempotency.ts';
import { type Page, pageOf, pick } from './page.ts';
import { checkWebhook, newRun, type SubmitDeps, submitted } from './run-submit.ts';

export interface CronDeps extends CronRunDeps, SubmitDeps {
  readonly crons: CronRepository;
  readonly cronFires: Pick<CronFireRepository, 'list'>;
}

export type CronService = ReturnType<typeof cronService>;

/** Crons: runs that are made by the clock (CONTRACT §2.5, §11). */
export function cronService(deps: CronDeps) {
  const { crons, clock, ids, bus } = deps;

  async function find(cron_id: string): Promise<StoredCron> {
    const cron = await crons.get(cron_id);
    if (!cron) throw new NotFound('Not Found');
    return cron;
  }

  return {
    /** Without a thread, each run makes one for itself. */
    async create(
      actor: Actor,
      thread_id: string | null,
      input: CronCreate | ThreadCronCreate,
    ): Promise<Cron> {
      checkSchedule(input.schedule, input.timezone ?? null);
      await checkWebhook(deps, input);
      const assistant_id = await assistantId(deps, actor, input.assistant_id);
      if (thread_id !== null && input['if_not_exists'] !== 'create') await requireThread(deps, thread_id);
      const cron = newCron(input, {
        actor,
        cron_id: ids.uuid7(),
        assistant_id,
        thread_id,
        now_ms: clock.now(),
      });
      await crons.insert(cron);
      bus.scheduled();
      return shown(cron);
    },

    async get(_actor: Actor, cron_id: string): Promise<Cron> {
      return shown(await find(cron_id));
    },

    async search(_actor: Actor, query: CronSearch): Promise<Page<Partial<Cron>>> {
      const rows = await crons.search({ ...query, limit: query.limit + 1 });
      const selected = rows.map((row) => pick(shown(row), query.select));
      return pageOf(selected, query.limit, query.offset);
    },

    count(_actor: Actor, filter: CronCount): Promise<number> {
      return crons.count(filter);
    },

    /** A time that has come but is not served yet is kept, unless the schedule itself changes. */
    async update(_actor: Actor, cron_id: string, patch: CronPatch): Promise<Cron> {
      if (Object.keys(patch).length === 0) throw new BadRequest('Request body cannot be empty');
      checkSchedule(patch.schedule ?? '* * * * *', patch.timezone ?? null);
      await checkWebhook(deps, patch);
      const cron = await crons.update(cron_id, (stored) => revisedCron(stored, patch, clock.now()));
      if (!cron) throw new NotFound(`Cron '${cron_id}' not found`);
      bus.scheduled();
      return shown(cron);
    },

    /** Its runs stay. */
    async delete(_actor: Actor, cron_id: string): Promise<void> {
      if (!(await crons.delete(cron_id))) throw new NotFound('Not Found');
    },

    /** Makes a run now, also of a cron that is paused or over; when it comes next does not change. */
    async trigger(_actor: Actor, cron_id: string, once?: Once): Promise<Run> {
      if (once?.run) return once.run;
      const submission = await cronSubmission(deps, await find(cron_id));
      const request = newRun(deps, { ...submission, once });
      const triggered = await deps.queue.triggerCron(cron_id, request, timestamp(clock.now()));
      if (triggered.outcome === 'missing cron') throw new NotFound('Not Found');
      return submitted(deps, request, triggered);
    },

    /** What its times came to, the newest first. */
    async runs(_actor: Actor, cron_id: string, query: CronRunsQuery): Promise<CronRun[]> {
      await find(cron_id);
      return deps.cronFires.list(cron_id, query);
    },
  };
}

function shown({ ends_at: _ends, run_as: _user, ...cron }: StoredCron): Cron {
  return cron;
}

/** A name that is no graph's is answered as an id that is no assistant's (CONTRACT §2.5). */
async function assistantId({ assistants }: CronDeps, actor: Actor, id: string): Promise<string> {
  try {
    return (await assistants.resolve(actor, id)).assistant_id;
  } catch (error) {
    const isMissing = error instanceof NotFound || error instanceof InvalidInput;
    throw isMissing ? new NotFound(`Assistant '${id}' not found`) : error;
  }
}

async function requireThread({ threads }: CronDeps, thread_id: string): Promise<void> {
  if (await threads.get(thread_id, ['thread_id'])) return;
  throw new NotFound(`Thread with ID '${thread_id}' not found. Please verify that the thread exists.`);
}

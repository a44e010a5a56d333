import type { Actor } from '../../auth/actor.ts';
import { authorize } from '../../auth/authorize.ts';
import { timestamp } from '../../core/clock.ts';
import { checkSchedule } from '../../core/cron-times.ts';
import { BadRequest, Conflict, InvalidInput, NotFound } from '../../core/errors.ts';
import type { Logger } from '../../core/logger.ts';
import { pickFields } from '../../core/pick-fields.ts';
import type {
  Cron,
  CronCount,
  CronCreate,
  CronPatch,
  CronRun,
  CronRunsQuery,
  CronSearch,
  ThreadCronCreate,
} from '../../schemas/crons.ts';
import type { Run } from '../../schemas/runs.ts';
import { intersectVisibility } from '../../storage/access/visibility.ts';
import type { CronFireRepository, CronRepository } from '../../storage/crons/crons.ts';
import type { StoredCron } from '../../storage/crons/row.ts';
import type { AssistantService } from '../assistants/assistants.ts';
import { checkRunLimits } from '../assistants/run-config.ts';
import type { IdempotencyContext } from '../idempotency.ts';
import { type Page, pageOf } from '../pagination.ts';
import { authorizeRun, checkWebhook, confirmSubmission, newRun, type SubmitDeps } from '../runs/submit.ts';
import { type CronRunDeps, cronRunInput, cronSubmission } from './cron-runs.ts';
import { newCron, updatedCron } from './stored-cron.ts';

export interface CronDeps extends CronTriggerDeps {
  readonly assistants: AssistantService;
  readonly crons: CronRepository;
  readonly logger: Logger;
}

export type CronService = ReturnType<typeof cronService>;

/** Crons: scheduled runs (contract §2.5, §11). */
export function cronService(deps: CronDeps) {
  const { crons, clock, ids, bus } = deps;

  const find: FindCron = async (actor, event, cron_id) => {
    const cron = await crons.get(cron_id, await authorize(actor, event, { cron_id }));
    if (!cron) throw new NotFound('Not Found');
    return cron;
  };

  return {
    ...cronTrigger(deps, find),

    /** Without a thread, each run creates its own. */
    async create(
      actor: Actor,
      thread_id: string | null,
      input: CronCreate | ThreadCronCreate,
    ): Promise<Cron> {
      checkTimes(input);
      checkRunLimits(deps, input.config);
      await checkWebhook(deps, input);
      const assistant_id = await resolveAssistantId(deps, actor, input.assistant_id);
      if (thread_id !== null) await requireThread(deps, actor, thread_id, input['if_not_exists']);
      const cron_id = ids.uuid7();
      const own = { cron_id, assistant_id, thread_id, user_id: actor.user?.identity ?? '' };
      const value = { ...input, ...own, payload: input, metadata: input.metadata ?? {} };
      await authorize(actor, 'crons:create', value);
      const cron = newCron(input, { actor, ...own, metadata: value.metadata, now_ms: clock.now() });
      // Each tick authorizes again. Checking now rejects a cron that could never create a run.
      await authorizeRun(deps, actor, thread_id, cronRunInput(cron));
      await limitCronsOfRuns(deps, cron);
      await crons.insert(cron);
      bus.emit('schedule.changed');
      bus.emit('row.changed', 'cron', cron_id);
      return publicCron(cron);
    },

    async get(actor: Actor, cron_id: string): Promise<Cron> {
      return publicCron(await find(actor, 'crons:read', cron_id));
    },

    async search(actor: Actor, query: CronSearch): Promise<Page<Partial<Cron>>> {
      const visibility = await authorize(actor, 'crons:search', { ...query });
      const filter = withAssistantId(deps, query);
      const rows = await crons.search({ ...filter, limit: query.limit + 1 }, visibility);
      const now = timestamp(clock.now());
      const selected = rows.map((row) =>
        query.select ? pickFields({ ...publicCron(row), now }, query.select) : publicCron(row),
      );
      return pageOf(selected, query.limit, query.offset);
    },

    async count(actor: Actor, filter: CronCount): Promise<number> {
      const visibility = await authorize(actor, 'crons:search', { ...filter });
      return crons.count(withAssistantId(deps, filter), visibility);
    },

    /** Preserves a due tick that has not fired yet, unless the schedule itself changes. */
    async update(actor: Actor, cron_id: string, patch: CronPatch): Promise<Cron> {
      if (Object.keys(patch).length === 0) throw new BadRequest('Request body cannot be empty');
      checkSchedule(patch.schedule ?? '* * * * *', patch.timezone ?? null);
      checkRunLimits(deps, patch.config);
      await checkWebhook(deps, patch);
      const value = { ...patch, cron_id, payload: patch };
      const visibility = await authorize(actor, 'crons:update', value);
      const { metadata } = value;
      const revise = (stored: StoredCron) => updatedCron(stored, patch, { metadata, now_ms: clock.now() });
      const cron = await crons.update(cron_id, revise, visibility);
      if (!cron) throw new NotFound(`Cron '${cron_id}' not found`);
      bus.emit('schedule.changed');
      bus.emit('row.changed', 'cron', cron_id);
      return publicCron(cron);
    },

    /** Does not delete its runs. */
    async delete(actor: Actor, cron_id: string): Promise<void> {
      const visibility = await authorize(actor, 'crons:delete', { cron_id });
      if (!(await crons.delete(cron_id, visibility))) throw new NotFound('Not Found');
      bus.emit('row.changed', 'cron', cron_id);
    },
  };
}

/** Throws `InvalidInput` for a wrong schedule or time zone, or without any time. */
function checkTimes({ schedule, at, timezone = null }: CronCreate): void {
  if (schedule === undefined && at === undefined)
    throw new InvalidInput('Send a "schedule", or a single time as "at".');
  checkSchedule(schedule ?? '* * * * *', timezone);
}

/** Active crons of one user that runs of crons created: a graph that schedules itself would double them at each time. */
const MAX_CRONS_OF_RUNS = 100;
const WARN_CRONS_OF_RUNS = 50;

/** Warns, then throws `Conflict`, when runs of crons create more and more crons. */
async function limitCronsOfRuns({ crons, logger }: CronDeps, cron: StoredCron): Promise<void> {
  const { made_by_cron, user_id, cron_id } = cron;
  if (made_by_cron === null) return;
  const count = await crons.countOfRuns(user_id);
  if (count >= MAX_CRONS_OF_RUNS)
    throw new Conflict(
      `Runs of crons have created ${count} crons that are still active, which is the maximum. ` +
        'Delete some of them, or create crons outside of the runs of crons.',
    );
  if (count >= WARN_CRONS_OF_RUNS) {
    const fields = { cron_id, made_by_cron, active: count + 1, max: MAX_CRONS_OF_RUNS };
    logger.warn('runs of crons create crons: does a graph schedule itself?', fields);
  }
}

function publicCron({ ends_at: _ends, run_as: _user, made_by_cron: _made, ...cron }: StoredCron): Cron {
  return cron;
}

/** An unknown graph name is a 404, like an unknown assistant id (contract §2.5). */
async function resolveAssistantId({ assistants }: CronDeps, actor: Actor, id: string): Promise<string> {
  try {
    return (await assistants.resolve(actor, id)).assistant_id;
  } catch (error) {
    const isMissing = error instanceof NotFound || error instanceof InvalidInput;
    throw isMissing ? new NotFound(`Assistant '${id}' not found`) : error;
  }
}

/** Resolves a graph name to the id of its system assistant. */
function withAssistantId<Filter extends CronCount>({ assistants }: CronDeps, filter: Filter): Filter {
  if (filter.assistant_id === undefined) return filter;
  return { ...filter, assistant_id: assistants.requireId(filter.assistant_id) };
}

/** With `if_not_exists: create` the thread may be missing, but not belong to another user. */
async function requireThread(
  { threads }: CronDeps,
  actor: Actor,
  thread_id: string,
  if_not_exists: unknown,
): Promise<void> {
  const visibility = await authorize(actor, 'threads:read', { thread_id });
  if (await threads.get(thread_id, ['thread_id'], visibility)) return;
  if (if_not_exists === 'create' && !(await threads.get(thread_id, ['thread_id']))) return;
  throw new NotFound(`Thread with ID '${thread_id}' not found. Please verify that the thread exists.`);
}

export interface CronTriggerDeps extends CronRunDeps, SubmitDeps {
  readonly cronFires: CronFireRepository;
}

/** Throws `NotFound` for a missing cron and for one that the actor may not access. */
export type FindCron = (
  actor: Actor,
  event: 'crons:read' | 'crons:update',
  cron_id: string,
) => Promise<StoredCron>;

/** Manual trigger of a cron, and the history of its ticks. */
function cronTrigger(deps: CronTriggerDeps, find: FindCron) {
  return {
    /** Creates a run now, even if the cron is disabled or has ended; `next_run_date` does not change. */
    async trigger(actor: Actor, cron_id: string, idempotency?: IdempotencyContext): Promise<Run> {
      if (idempotency?.run) return idempotency.run;
      const cron = await find(actor, 'crons:update', cron_id);
      // The run acts as the cron's creator, who may have more rights than the caller: require both.
      const authorized = await authorizeRun(deps, actor, cron.thread_id, cronRunInput(cron));
      const submission = await cronSubmission(deps, cron);
      const visibility = intersectVisibility(authorized.visibility, submission.visibility);
      const request = newRun(deps, { ...submission, visibility, cargo: { idempotency } });
      const triggered = await deps.queue.triggerCron(cron_id, request, timestamp(deps.clock.now()));
      if (triggered.outcome === 'missing cron') throw new NotFound('Not Found');
      deps.bus.emit('row.changed', 'cron', cron_id);
      return confirmSubmission(deps, request, triggered);
    },

    /** Outcomes of its ticks, newest first. */
    async runs(actor: Actor, cron_id: string, query: CronRunsQuery): Promise<CronRun[]> {
      await find(actor, 'crons:read', cron_id);
      return deps.cronFires.list(cron_id, query);
    },
  };
}

import type { Actor, User } from '../../auth/actor.ts';
import { NotFound } from '../../core/errors.ts';
import { isObject } from '../../core/json.ts';
import { pickFields } from '../../core/pick-fields.ts';
import { CRON_RUN_FIELDS } from '../../schemas/crons.ts';
import type { RunCreate } from '../../schemas/runs.ts';
import type { StoredCron } from '../../storage/crons/row.ts';
import type { ThreadRepository } from '../../storage/threads/threads.ts';
import type { AssistantService } from '../assistants/assistants.ts';
import { type AuthorizeRunDeps, authorizeRun, type Submission } from '../runs/submit.ts';

export interface CronRunDeps extends AuthorizeRunDeps {
  readonly assistants: AssistantService;
  readonly threads: ThreadRepository;
  /** The actor for a user when there is no request. */
  readonly impersonate: (user: User | null, request_id: string) => Actor;
}

/** Submits a run as the cron's creator. Throws `NotFound` if its assistant or thread does not exist. */
export async function cronSubmission(deps: CronRunDeps, cron: StoredCron): Promise<Submission> {
  const { cron_id, thread_id } = cron;
  const actor = deps.impersonate(cron.run_as as User | null, deps.ids.uuid4());
  const authorized = await authorizeRun(deps, actor, thread_id, cronRunInput(cron));
  const assistant = await deps.assistants.resolve(actor, cron.assistant_id).catch((error: unknown) => {
    throw error instanceof NotFound ? new NotFound(`Assistant '${cron.assistant_id}' not found`) : error;
  });
  const submission = { ...authorized, actor, assistant, kind: 'background', cron_id } as const;
  if (thread_id === null) {
    return { ...submission, thread_id: deps.ids.uuid7(), temporary: true, thread_metadata: {} };
  }
  const thread = await deps.threads.get(thread_id, ['thread_id', 'metadata'], authorized.visibility);
  if (!thread && authorized.input.if_not_exists !== 'create')
    throw new NotFound(`Thread with ID '${thread_id}' not found`);
  const thread_metadata = thread?.metadata ?? {};
  return { ...submission, thread_id, temporary: false, thread_metadata };
}

/** Removes the server-set `cron_id` from `configurable`, so that it does not conflict with `context`. */
export function withoutCronId(config: unknown): RunCreate['config'] {
  if (!isObject(config) || !isObject(config['configurable'])) return config as RunCreate['config'];
  const { cron_id: _, ...configurable } = config['configurable'];
  return { ...config, configurable };
}

/** Run request of every tick. */
export function cronRunInput({ assistant_id, payload, metadata, on_run_completed }: StoredCron): RunCreate {
  return {
    ...pickFields(payload, CRON_RUN_FIELDS),
    assistant_id,
    config: withoutCronId(payload['config']),
    metadata,
    on_completion: on_run_completed,
  };
}

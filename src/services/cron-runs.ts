import type { Actor, User } from '../auth/actor.ts';
import { NotFound } from '../core/errors.ts';
import { isObject } from '../core/json.ts';
import { CRON_RUN_FIELDS } from '../schemas/crons.ts';
import type { RunCreate } from '../schemas/runs.ts';
import type { StoredCron } from '../storage/crons/row.ts';
import type { ThreadRepository } from '../storage/threads/threads.ts';
import type { AssistantService } from './assistants.ts';
import { pick } from './page.ts';
import { allowRun, type RunAccessDeps } from './run-access.ts';
import type { Submission } from './run-submit.ts';

export interface CronRunDeps extends RunAccessDeps {
  readonly assistants: Pick<AssistantService, 'resolve' | 'idOf'>;
  readonly threads: Pick<ThreadRepository, 'get'>;
  /** Somebody who acts without a request. */
  readonly actFor: (user: User | null, request_id: string) => Actor;
}

/** A run of the cron, for the user who made the cron. Throws `NotFound` when its assistant or its thread is gone. */
export async function cronSubmission(deps: CronRunDeps, cron: StoredCron): Promise<Submission> {
  const { cron_id, thread_id } = cron;
  const actor = deps.actFor(cron.run_as as User | null, deps.ids.uuid4());
  const allowed = await allowRun(deps, actor, thread_id, runOf(cron));
  const assistant = await deps.assistants.resolve(actor, cron.assistant_id).catch((error: unknown) => {
    throw error instanceof NotFound ? new NotFound(`Assistant '${cron.assistant_id}' not found`) : error;
  });
  const made = { ...allowed, actor, assistant, kind: 'background', cron_id } as const;
  if (thread_id === null) {
    return { ...made, thread_id: deps.ids.uuid7(), temporary: true, thread_metadata: {} };
  }
  const thread = await deps.threads.get(thread_id, ['thread_id', 'metadata'], allowed.visibility);
  if (!thread && allowed.input.if_not_exists !== 'create')
    throw new NotFound(`Thread with ID '${thread_id}' not found`);
  return { ...made, thread_id, temporary: false, thread_metadata: thread?.metadata ?? {} };
}

/** The configuration without the cron's id, which is no choice of the client: it leaves room for a `context`. */
export function ownConfig(config: unknown): RunCreate['config'] {
  if (!isObject(config) || !isObject(config['configurable'])) return config as RunCreate['config'];
  const { cron_id: _, ...configurable } = config['configurable'];
  return { ...config, configurable };
}

/** What the cron asks for each time. */
export function runOf({ assistant_id, payload, metadata, on_run_completed }: StoredCron): RunCreate {
  return {
    ...pick(payload, CRON_RUN_FIELDS),
    assistant_id,
    config: ownConfig(payload['config']),
    metadata,
    on_completion: on_run_completed,
  };
}

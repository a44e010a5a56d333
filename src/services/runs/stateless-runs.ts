import type { Actor } from '../../auth/actor.ts';
import { BadRequest } from '../../core/errors.ts';
import type { Run, RunCreate } from '../../schemas/runs.ts';
import type { IdempotencyContext } from '../idempotency.ts';
import type { RunKind } from './run-options.ts';
import type { RunDeps } from './runs.ts';
import { authorizeRun, type Submission, submit, submitAll } from './submit.ts';

export type StatelessRunService = ReturnType<typeof statelessRunService>;

/** Stateless runs: each creates a thread, deleted when the run ends unless it is to be kept (contract §2.4). */
export function statelessRunService(deps: RunDeps) {
  async function prepareSubmission(actor: Actor, requested: RunCreate, kind: RunKind): Promise<Submission> {
    const resume = requested.command?.resume;
    if (resume !== undefined && resume !== null) {
      throw new BadRequest('You must provide a thread_id when resuming.');
    }
    const authorized = await authorizeRun(deps, actor, null, requested);
    const assistant = await deps.assistants.resolve(actor, requested.assistant_id);
    const thread_id = deps.ids.uuid7();
    return { ...authorized, actor, assistant, thread_id, kind, temporary: true, thread_metadata: {} };
  }

  return {
    async create(
      actor: Actor,
      input: RunCreate,
      kind: RunKind,
      idempotency?: IdempotencyContext,
    ): Promise<Run> {
      if (idempotency?.run) return idempotency.run;
      return submit(deps, { ...(await prepareSubmission(actor, input, kind)), cargo: { idempotency } });
    },

    /** Like `create`, but an interrupted run's thread remains for a day, to be resumed. */
    async createInterruptible(actor: Actor, input: RunCreate, kind: RunKind): Promise<Run> {
      return submit(deps, { ...(await prepareSubmission(actor, input, kind)), keep_interrupted: true });
    },

    /** Atomic: one invalid run rejects the whole batch. */
    async createBatch(actor: Actor, inputs: readonly RunCreate[]): Promise<Run[]> {
      return submitAll(
        deps,
        await Promise.all(inputs.map((input) => prepareSubmission(actor, input, 'background'))),
      );
    },
  };
}

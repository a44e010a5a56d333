import type { Actor } from '../auth/actor.ts';
import { BadRequest } from '../core/errors.ts';
import type { Run, RunCreate } from '../schemas/runs.ts';
import type { Once } from './idempotency.ts';
import { allowRun } from './run-access.ts';
import type { RunKind } from './run-options.ts';
import { type Submission, submit, submitAll } from './run-submit.ts';
import type { RunDeps } from './runs.ts';

export type StatelessRunService = ReturnType<typeof statelessRunService>;

/** Runs without a thread: each makes one for itself, which goes when it ends unless it is to be kept (CONTRACT §2.4). */
export function statelessRunService(deps: RunDeps) {
  async function submission(actor: Actor, asked: RunCreate, kind: RunKind): Promise<Submission> {
    const resume = asked.command?.resume;
    if (resume !== undefined && resume !== null) {
      throw new BadRequest('You must provide a thread_id when resuming.');
    }
    const allowed = await allowRun(deps, actor, null, asked);
    const assistant = await deps.assistants.resolve(actor, asked.assistant_id);
    const thread_id = deps.ids.uuid7();
    return { ...allowed, actor, assistant, thread_id, kind, temporary: true, thread_metadata: {} };
  }

  return {
    async create(actor: Actor, input: RunCreate, kind: RunKind, once?: Once): Promise<Run> {
      if (once?.run) return once.run;
      return submit(deps, { ...(await submission(actor, input, kind)), once });
    },

    /** As `create`; the thread of a run that stops at an interrupt stays for a day, for the answer. */
    async createAnswerable(actor: Actor, input: RunCreate, kind: RunKind): Promise<Run> {
      return submit(deps, { ...(await submission(actor, input, kind)), answerable: true });
    },

    /** One that cannot be made keeps all others from being made. */
    async createBatch(actor: Actor, inputs: readonly RunCreate[]): Promise<Run[]> {
      return submitAll(
        deps,
        await Promise.all(inputs.map((input) => submission(actor, input, 'background'))),
      );
    },
  };
}

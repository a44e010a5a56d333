import type { Actor } from '../../auth/actor.ts';
import { authorize } from '../../auth/authorize.ts';
import { NotFound } from '../../core/errors.ts';
import type { EventBus } from '../../events/bus.ts';
import type { Run, RunCreate } from '../../schemas/runs.ts';
import type { CheckpointRepository } from '../../storage/checkpoints/checkpoints.ts';
import type { Cargo } from '../../storage/riders.ts';
import type { RunList } from '../../storage/runs/runs.ts';
import type { AssistantService } from '../assistants/assistants.ts';
import type { IdempotencyContext } from '../idempotency.ts';
import { type CancelDeps, type CancelOptions, runCancel } from './cancel.ts';
import { answerOf, checkpointPlace, type RunKind, withoutServerAnswer } from './run-options.ts';
import { type RunStreamDeps, runStreams } from './run-streams.ts';
import {
  type AuthorizedRun,
  type AuthorizeRunDeps,
  authorizeRun,
  type SubmitDeps,
  submit,
} from './submit.ts';

export interface RunDeps extends AuthorizeRunDeps, RunStreamDeps, SubmitDeps, CancelDeps {
  readonly assistants: AssistantService;
  readonly checkpoints: CheckpointRepository;
  /** Recomputes a thread's status from its newest checkpoint after a run was deleted. */
  readonly refreshStatus: (thread_id: string) => Promise<void>;
  /** Maximum size of a list of runs, bytes of JSON. */
  readonly max_list_bytes?: number;
}

export type RunService = ReturnType<typeof runService>;

/** Runs on a thread: create, follow, cancel, delete (contract §2.3, §3). */
export function runService(deps: RunDeps) {
  const { runs, queue, bus } = deps;
  const streams = runStreams(deps);
  const { cancel, ...cancels } = runCancel(deps);

  return {
    ...streams,
    ...cancels,

    /**
     * Enqueues a run. Throws `NotFound` for a missing thread, assistant or checkpoint, and `Conflict` for strategy
     * `reject` with a run in flight. `idempotency`: returns the run that an earlier request with the key created.
     * `cargo`: for the riders of extensions, committed with the run.
     */
    async create(
      actor: Actor,
      thread_id: string,
      requested: RunCreate,
      kind: RunKind,
      idempotency?: IdempotencyContext,
      cargo?: Cargo,
    ): Promise<Run> {
      if (idempotency?.run) return idempotency.run;
      const authorized = await authorizeRun(deps, actor, thread_id, requested);
      const [assistant, { thread, input }] = await Promise.all([
        deps.assistants.resolve(actor, authorized.input.assistant_id),
        findThread(deps, thread_id, authorized),
      ]);
      if (!thread && input.if_not_exists !== 'create') throw new NotFound('Thread or assistant not found.');
      await requireCheckpoint(deps, thread_id, input);
      const thread_metadata = thread?.metadata ?? {};
      const submission = {
        ...authorized,
        input,
        actor,
        assistant,
        thread_id,
        kind,
        temporary: false,
        thread_metadata,
        answer: answerOf(actor, authorized.input),
      };
      return submit(deps, { ...submission, cargo: { ...cargo, idempotency } });
    },

    /** Newest first. Throws `InvalidInput` if several runs are too large for one reply. */
    list: (actor: Actor, thread_id: string, query: RunList) => listRuns(deps, actor, thread_id, query),

    /** `thread_id` is `undefined` if the client does not know the run's thread. */
    async get(actor: Actor, thread_id: string | undefined, run_id: string): Promise<Run> {
      const visibility = await authorize(actor, 'threads:read', { thread_id, run_id });
      const run = await runs.get(thread_id, run_id, visibility);
      if (!run) throw new NotFound('Not Found');
      return run;
    },

    /** Deletes a run in any state with its checkpoints; cancels it if running. The thread's values remain. */
    async delete(actor: Actor, thread_id: string, run_id: string): Promise<void> {
      const visibility = await authorize(actor, 'threads:delete', { thread_id, run_id });
      const { deleted, promoted } = await queue.deleteRun(thread_id, run_id, undefined, visibility);
      if (!deleted) throw new NotFound('Run not found');
      notifyDeleted(bus, { thread_id, run_id, promoted });
      await deps.refreshStatus(thread_id);
    },

    /** `wait`: returns once the run has released its thread, after which it can write nothing more. */
    async cancel(
      actor: Actor,
      thread_id: string,
      run_id: string,
      { wait, ...options }: CancelOptions & { wait: boolean },
      signal: AbortSignal,
    ): Promise<void> {
      const run = await cancel(actor, thread_id, run_id, options);
      if (wait) for await (const _ of streams.follow(run, signal));
    },
  };
}

async function listRuns(
  { runs, threads, max_list_bytes }: RunDeps,
  actor: Actor,
  thread_id: string,
  query: RunList,
): Promise<Run[]> {
  const visibility = await authorize(actor, 'threads:search', { ...query, thread_id });
  const found = await runs.list(thread_id, query, visibility, max_list_bytes);
  if (found.length === 0 && !(await threads.get(thread_id, ['thread_id'], visibility)))
    throw new NotFound(`Thread with ID ${thread_id} not found`);
  return found;
}

function notifyDeleted(
  bus: EventBus,
  { thread_id, run_id, promoted }: { thread_id: string; run_id: string; promoted: boolean },
): void {
  bus.emit('run.cancelled', run_id);
  bus.updated(run_id);
  bus.emit('row.changed', 'run', run_id);
  bus.emit('row.changed', 'thread', thread_id);
  if (promoted) bus.emit('run.ready');
}

/** The thread, and the input without an answer that is meant for the server. */
async function findThread({ threads }: RunDeps, thread_id: string, { input, visibility }: AuthorizedRun) {
  const isAnswer = (input.command?.resume ?? undefined) !== undefined;
  const fields = ['thread_id', 'metadata', ...(isAnswer ? (['interrupts'] as const) : [])] as const;
  const thread = await threads.get(thread_id, fields, visibility);
  return { thread, input: isAnswer && thread ? withoutServerAnswer(input, thread) : input };
}

/** A missing checkpoint would silently start from an empty state. */
async function requireCheckpoint(
  { checkpoints }: RunDeps,
  thread_id: string,
  input: RunCreate,
): Promise<void> {
  const { id: checkpoint_id, ns = '' } = checkpointPlace(input);
  if (!checkpoint_id) return;
  const [found] = await checkpoints.find({ thread_id, ns, checkpoint_id, limit: 1 });
  if (!found) throw new NotFound(`Checkpoint ${checkpoint_id} not found on thread ${thread_id}`);
}

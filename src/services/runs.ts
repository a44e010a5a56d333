import type { Actor } from '../auth/actor.ts';
import { type Clock, timestamp } from '../core/clock.ts';
import { Conflict, NotFound } from '../core/errors.ts';
import type { Ids } from '../core/ids.ts';
import type { EventBus } from '../events/bus.ts';
import type { Assistant } from '../schemas/assistants.ts';
import type { CancelAction, Run, RunCreate, RunStatus } from '../schemas/runs.ts';
import type { RunError, Thread } from '../schemas/threads.ts';
import type { CheckpointRepository } from '../storage/checkpoints.ts';
import type { NewRun } from '../storage/queue/enqueue.ts';
import type { RunQueue } from '../storage/queue/queue.ts';
import type { AssistantService } from './assistants.ts';
import { DISCONNECTED, requestedBy } from './cancel.ts';
import { alreadyRunning, strategyFor } from './multitask.ts';
import { type RunContext, type RunKind, runKwargs, runMetadata } from './run-options.ts';
import { type RunStreamDeps, runStreams } from './run-streams.ts';
import { isFinal } from './transitions.ts';

export interface RunDeps extends RunStreamDeps {
  readonly assistants: Pick<AssistantService, 'resolve'>;
  readonly checkpoints: Pick<CheckpointRepository, 'find'>;
  readonly queue: RunQueue;
  readonly bus: EventBus;
  readonly clock: Clock;
  readonly ids: Ids;
  /** How long the log of an ended run is kept, ms. */
  readonly keep_log_ms: number;
}

export interface RunListQuery {
  readonly limit: number;
  readonly offset: number;
  readonly status?: RunStatus | undefined;
}

export type RunService = ReturnType<typeof runService>;

/** Runs on a thread: made, watched, cancelled, deleted (CONTRACT §2.3, §3). */
export function runService(deps: RunDeps) {
  const { runs, threads, queue, bus } = deps;
  const streams = runStreams(deps);

  return {
    ...streams,

    /**
     * Queues a run. Throws `NotFound` for a missing thread, assistant or checkpoint, `Conflict` when the strategy
     * is `reject` and another run is in flight.
     */
    async create(actor: Actor, thread_id: string, input: RunCreate, kind: RunKind): Promise<Run> {
      const [assistant, thread] = await Promise.all([
        deps.assistants.resolve(actor, input.assistant_id),
        threads.get(thread_id, ['thread_id', 'metadata']),
      ]);
      if (!thread && input.if_not_exists !== 'create') throw new NotFound('Thread or assistant not found.');
      await requireCheckpoint(deps, thread_id, input);
      const thread_metadata = thread?.metadata ?? {};
      return submit(deps, input, { actor, assistant, thread_id, kind, temporary: false, thread_metadata });
    },

    /** Newest first. */
    async list(_actor: Actor, thread_id: string, query: RunListQuery): Promise<Run[]> {
      const found = await runs.list(thread_id, query);
      if (found.length === 0 && !(await threads.get(thread_id, ['thread_id']))) {
        throw new NotFound(`Thread with ID ${thread_id} not found`);
      }
      return found;
    },

    /** Without a thread: a run whose thread the client does not know. */
    async get(_actor: Actor, thread_id: string | undefined, run_id: string): Promise<Run> {
      const run = await runs.get(thread_id, run_id);
      if (!run) throw new NotFound('Not Found');
      return run;
    },

    /** A run in any state goes with its checkpoints; one that executes is stopped. The thread keeps its values. */
    async delete(_actor: Actor, thread_id: string, run_id: string): Promise<void> {
      const { deleted, promoted } = await queue.deleteRun(thread_id, run_id);
      if (!deleted) throw new NotFound('Run not found');
      bus.control(run_id);
      bus.hint(run_id);
      if (promoted) bus.wake();
    },

    /** `wait`: returns when the run has let go of its thread, and nothing more of it can land. */
    async cancel(
      _actor: Actor,
      thread_id: string,
      run_id: string,
      { action, wait }: { action: CancelAction; wait: boolean },
      signal: AbortSignal,
    ): Promise<void> {
      const run = await runs.get(thread_id, run_id);
      if (!run) throw new NotFound('No runs found to cancel.');
      const cancelled = !isFinal(run.status) && (await cancelOne(deps, run, action, requestedBy(action)));
      if (!cancelled) {
        throw new NotFound('No matching runs to cancel. Please verify that the run is pending or running.');
      }
      if (wait) for await (const _ of streams.follow(run, signal));
    },

    /** The client that asked for `on_disconnect: cancel` is gone. A run that ended meanwhile is left alone. */
    async abandon(run: Run): Promise<void> {
      await cancelOne(deps, run, 'interrupt', DISCONNECTED);
    },
  };
}

/** Puts a run into the queue and tells the others of its thread and the workers. */
export async function submit(
  deps: RunDeps,
  input: RunCreate,
  made: Omit<RunContext, 'run_id' | 'now_ms'>,
): Promise<Run> {
  const { queue, bus, clock, ids } = deps;
  const context = { ...made, run_id: ids.uuid7(), now_ms: clock.now() };
  const request = newRun(deps, input, context);
  const queued = await queue.enqueue(request);
  if (queued.outcome === 'rejected') throw alreadyRunning();
  if (queued.outcome === 'missing thread') throw new NotFound('Thread or assistant not found.');
  if (queued.outcome === 'run exists') throw new Conflict(`Run ${context.run_id} already exists`);
  for (const run_id of queued.stopping) bus.control(run_id);
  for (const run_id of queued.ended) bus.hint(run_id);
  if (queued.ready) bus.wake();
  if (request.delay_ms > 0) bus.scheduled();
  return request.run;
}

function newRun({ keep_log_ms }: RunDeps, input: RunCreate, context: RunContext): NewRun {
  const { assistant, thread_id, run_id, now_ms, temporary } = context;
  const delay_ms = Math.max(0, Math.round((input.after_seconds ?? 0) * 1000));
  const strategy = input.multitask_strategy ?? 'enqueue';
  // A delayed run shows its due time as its creation (CONTRACT §3).
  const created_at = timestamp(now_ms + delay_ms);
  const run: Run = {
    run_id,
    thread_id,
    assistant_id: assistant.assistant_id,
    metadata: runMetadata(input, context),
    status: 'pending',
    kwargs: runKwargs(input, context),
    multitask_strategy: strategy,
    created_at,
    updated_at: timestamp(now_ms),
    langsmith_session_name: null,
  };
  const makesThread = temporary || input.if_not_exists === 'create';
  return {
    run,
    delay_ms,
    thread: makesThread ? newThread(run, assistant) : undefined,
    thread_metadata: { graph_id: assistant.graph_id, assistant_id: assistant.assistant_id },
    others: strategyFor(strategy, run_id, keep_log_ms),
  };
}

/** A thread that a run makes carries the run's metadata (CONTRACT §3 `if_not_exists`). */
function newThread(run: Run, { graph_id, assistant_id }: Assistant): Thread {
  return {
    thread_id: run.thread_id,
    created_at: run.updated_at,
    updated_at: run.updated_at,
    metadata: { ...run.metadata, graph_id, assistant_id },
    status: 'busy',
    config: {},
    values: null,
  };
}

/** A checkpoint that does not exist would silently start from an empty state. */
async function requireCheckpoint(
  { checkpoints }: RunDeps,
  thread_id: string,
  input: RunCreate,
): Promise<void> {
  const checkpoint_id = input.checkpoint?.checkpoint_id ?? input.checkpoint_id;
  if (!checkpoint_id) return;
  const ns = input.checkpoint?.checkpoint_ns ?? '';
  const [found] = await checkpoints.find({ thread_id, ns, checkpoint_id, limit: 1 });
  if (!found) throw new NotFound(`Checkpoint ${checkpoint_id} not found on thread ${thread_id}`);
}

/** False when the run was no longer in flight. */
async function cancelOne(
  { queue, bus, keep_log_ms }: RunDeps,
  run: Run,
  action: CancelAction,
  error: RunError,
): Promise<boolean> {
  const how = { action, error, keep_log_ms };
  const { stopping, ended, promoted } = await queue.cancel(run.thread_id, [run.run_id], how);
  for (const run_id of stopping) bus.control(run_id);
  for (const run_id of ended) bus.hint(run_id);
  if (promoted) bus.wake();
  return stopping.length + ended.length > 0;
}

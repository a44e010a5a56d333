import type { Actor } from '../../auth/actor.ts';
import { authorize } from '../../auth/authorize.ts';
import { requireScope } from '../../auth/scopes.ts';
import { NotFound } from '../../core/errors.ts';
import { type EventBus, logUpdated } from '../../events/bus.ts';
import type { CancelAction, Run, RunsCancel } from '../../schemas/runs.ts';
import type { RunError } from '../../schemas/threads.ts';
import type { Visibility } from '../../storage/access/visibility.ts';
import type { Cancellation, Cancelled } from '../../storage/queue/cancel.ts';
import type { RunQueue } from '../../storage/queue/queue.ts';
import type { RunRepository } from '../../storage/runs/runs.ts';
import type { StoreStateAfterRun } from '../../storage/threads/state-after-run.ts';
import { isFinal } from './transitions.ts';

const ERROR_CLASS: Record<CancelAction, string> = { interrupt: 'UserInterrupt', rollback: 'UserRollback' };

/** A cancellation without the log retention, which is configuration. */
export type CancelSpec = Omit<Cancellation, 'log_retention_ms'>;

/**
 * A client's cancellation via `route`, with the error it leaves on the thread; the braces of a route are literal
 * (contract §3). `taken` appears only in the run's `cancel_reason`.
 */
function clientCancel(action: CancelAction, route: string, reason?: 'taken'): CancelSpec {
  const message = `${action} requested via ${route}`;
  return {
    action,
    error: { error: ERROR_CLASS[action], message },
    ...(reason && { reason: `${reason}: ${message}` }),
  };
}

/** For `on_disconnect: cancel` when the client disconnects. */
const DISCONNECT_CANCEL: CancelSpec = {
  action: 'interrupt',
  error: {
    error: ERROR_CLASS.interrupt,
    message: 'client disconnected from the run stream (on_disconnect=cancel)',
  },
};

/** True for a requested cancellation: a waiting client gets the values so far, not an error (contract §3). */
export function isCancellation(error: RunError): boolean {
  return error.error === ERROR_CLASS.interrupt || error.error === ERROR_CLASS.rollback;
}

export interface CancelDeps {
  readonly runs: RunRepository;
  readonly queue: RunQueue;
  readonly bus: EventBus;
  /** Retention of an ended run's event log, ms. */
  readonly log_retention_ms: number;
  /** For runs that end in the queue after they have begun. */
  readonly storeStateAfterRun?: StoreStateAfterRun | undefined;
}

export interface CancelOptions {
  readonly action: CancelAction;
  /** `taken`: another actor takes over the run's work; recorded in the run's `cancel_reason`. */
  readonly reason?: 'taken' | undefined;
}

/** Runs cancelled per query; there may be very many, and those of one thread share a transaction. */
const BATCH = 100;

const NONE_FOUND = 'No runs found to cancel.';
const NONE_IN_FLIGHT = 'No matching runs to cancel. Please verify that the run is pending or running.';

/** Cancels runs, one by id or many (contract §2.3, §3). */
export function runCancel({ runs, queue, bus, log_retention_ms, storeStateAfterRun }: CancelDeps) {
  /**
   * Returns how many were still in flight, including runs that have left `status` meanwhile, which continue.
   */
  async function cancelRuns(
    thread_id: string,
    run_ids: string[],
    cancellation: CancelSpec,
    status: 'pending' | 'running' | 'all' = 'all',
  ) {
    const how = { ...cancellation, log_retention_ms };
    const cancelled = await queue.cancel(thread_id, run_ids, how, status);
    const { stopping, ended, begun, spared, promoted } = cancelled;
    for (const run_id of [...stopping, ...ended]) bus.emit('row.changed', 'run', run_id);
    bus.emit('row.changed', 'thread', thread_id);
    for (const run_id of stopping) bus.emit('run.cancelled', run_id);
    if (promoted) bus.emit('run.ready');
    // Before those who wait for the end read what the run has left.
    if (begun !== undefined) await storeStateAfterRun?.({ run_id: begun, thread_id });
    // The others are counted by their workers.
    announceEnded(bus, thread_id, cancelled);
    return stopping.length + ended.length + spared;
  }

  async function cancelAll(
    status: 'pending' | 'running' | 'all',
    cancellation: CancelSpec,
    visibility: Visibility | undefined,
  ): Promise<void> {
    const failures: unknown[] = [];
    for (let isFirst = true; ; isFirst = false) {
      const batch = await queue.inFlight(status, BATCH, visibility);
      if (isFirst && batch.length === 0) throw new NotFound(NONE_FOUND);
      let stopped = 0;
      for (const [thread_id, found] of Map.groupBy(batch, (run) => run.thread_id)) {
        const run_ids = found.map((run) => run.run_id);
        // A failure on one thread must not stop the cancellation of the others.
        stopped += await cancelRuns(thread_id, run_ids, cancellation, status).catch((error: unknown) => {
          failures.push(error);
          return 0;
        });
      }
      if (batch.length < BATCH || stopped === 0) break;
    }
    if (failures.length > 0) throw failures[0];
  }

  return {
    /** Returns the run that is being cancelled. */
    async cancel(
      actor: Actor,
      thread_id: string,
      run_id: string,
      { action, reason }: CancelOptions,
    ): Promise<Run> {
      const visibility = await authorize(actor, 'threads:update', { thread_id, run_id, action });
      const run = await runs.get(thread_id, run_id, visibility);
      if (!run) throw new NotFound(NONE_FOUND);
      const cancellation = clientCancel(action, 'POST /threads/{thread_id}/runs/{run_id}/cancel', reason);
      if (isFinal(run.status) || (await cancelRuns(thread_id, [run_id], cancellation)) === 0)
        throw new NotFound(NONE_IN_FLIGHT);
      return run;
    },

    /** Cancels every run of a status, or the given in-flight runs of a thread. */
    async cancelMany(
      actor: Actor,
      { status = 'all', thread_id, run_ids }: RunsCancel,
      action: CancelAction,
    ): Promise<void> {
      const cancellation = clientCancel(action, 'POST /runs/cancel');
      const visibility = await authorize(actor, 'threads:update', { thread_id, run_ids, status, action });
      if (thread_id === undefined || run_ids === undefined)
        return cancelAll(status, cancellation, visibility);
      if (!(await runs.exist(thread_id, run_ids, visibility))) throw new NotFound(NONE_FOUND);
      if ((await cancelRuns(thread_id, run_ids, cancellation)) === 0) throw new NotFound(NONE_IN_FLIGHT);
    },

    authorizeAbandoning: (actor: Actor, run: Run) => authorizeAbandoning(runs, actor, run),

    /** Applies `on_disconnect: cancel`. No effect on a run that has ended meanwhile. */
    async abandon(run: Run): Promise<void> {
      await cancelRuns(run.thread_id, [run.run_id], DISCONNECT_CANCEL);
    },
  };
}

/** Notifies of runs that ended in the queue: a worker announces the end of those that it executes. */
export function announceEnded(
  bus: EventBus,
  thread_id: string,
  { ended, begun, announced }: Pick<Cancelled, 'ended' | 'begun' | 'announced'>,
): void {
  for (const run_id of ended) logUpdated(bus, { run_id, thread_id });
  if (begun !== undefined) bus.emit('delivery.queued');
  for (const run_id of announced) bus.emit('run.ended', run_id);
}

/**
 * Authorizes `cancel_on_disconnect` for a client that did not create the run: it needs the rights of `cancel`.
 * Throws `Forbidden`, and `NotFound` for a run that it may not change.
 */
async function authorizeAbandoning(
  runs: RunRepository,
  actor: Actor,
  { thread_id, run_id }: Run,
): Promise<void> {
  requireScope(actor.scope, 'run');
  const visibility = await authorize(actor, 'threads:update', { thread_id, run_id, action: 'interrupt' });
  if (!(await runs.get(thread_id, run_id, visibility))) throw new NotFound(NONE_FOUND);
}

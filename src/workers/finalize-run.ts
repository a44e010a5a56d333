import { timestamp } from '../core/clock.ts';
import { HostLost, LeaseLost } from '../core/errors.ts';
import { yieldToEventLoop } from '../core/event-loop.ts';
import { failureForLog, publicFailure, toError } from '../core/failure.ts';
import { sleep } from '../core/timers.ts';
import { UnknownInterruptError } from '../graphs/runtime/command.ts';
import type { RunStatus } from '../schemas/runs.ts';
import type { ThreadState } from '../schemas/thread-state.ts';
import type { RunError, ThreadStatus } from '../schemas/threads.ts';
import { interruptsOf, threadStatusAfter } from '../services/runs/transitions.ts';
import type { FailurePolicy } from '../storage/queue/end-attempt.ts';
import type { FinishResult, RunEnd } from '../storage/queue/finish.ts';
import { END_EVENT } from '../storage/runs/events.ts';
import type { ThreadRetention } from '../storage/runs/markers.ts';
import type { Batch } from '../storage/runs/write-buffer.ts';
import { serializeState } from '../storage/threads/values-summary.ts';
import { type Attempt, type AttemptContext, isStorageUnavailable, StopReason } from './attempt.ts';
import { logEnd, runFields, runStats } from './run-log.ts';

/** Log retention without event ids, ms: no client can resume such a stream, only connected ones still read the log. */
const NON_RESUMABLE_LOG_MS = 5 * 60_000;

/** Empty batch without `follows`: it depends on no earlier batch. */
const EMPTY_BATCH: Batch = { frames: [], writes: [] };

type AttemptEnd = Pick<RunEnd, 'status' | 'error' | 'batch'> & { readonly state: ThreadState | undefined };

type Outcome =
  | { readonly kind: 'lost' }
  | { readonly kind: 'release'; readonly charge: boolean; readonly host_ended?: true }
  | { readonly kind: 'end'; readonly status: RunStatus; readonly error: RunError | null };

/** Commits the end of an attempt to storage, and notifies followers and workers. */
export async function finalizeRun(
  deps: AttemptContext,
  attempt: Attempt,
  signal: AbortSignal,
): Promise<void> {
  // User code may throw any value, even one that throws on `instanceof`.
  if (attempt.failure !== undefined) attempt.failure = toError(attempt.failure);
  const outcome = outcomeOf(attempt.failure, signal);
  const { logger } = deps;
  if (outcome.kind === 'lost') {
    logger.warn('run stopped: its lease was lost', runFields(attempt));
    return acknowledgeCancel(deps, attempt);
  }
  if (outcome.kind === 'release')
    logger.warn('run released, it will be retried', { ...runFields(attempt), error: attempt.failure });
  if (outcome.kind === 'release' && (await requeue(deps, attempt, outcome))) return;
  // A refused requeue means that the run was cancelled in the meantime.
  const end = outcome.kind === 'end' ? outcome : ({ status: 'interrupted', error: null } as const);
  await finish(deps, attempt, end.status, end.error);
}

function outcomeOf(failure: unknown, signal: AbortSignal): Outcome {
  const cause = signal.aborted ? signal.reason : failure;
  if (cause instanceof LeaseLost) return { kind: 'lost' };
  if (cause instanceof StopReason) return outcomeOfStop(cause);
  if (cause instanceof HostLost) return { kind: 'release', charge: cause.charge, host_ended: true };
  if (isStorageUnavailable(cause)) return { kind: 'release', charge: true };
  if (cause !== undefined) return { kind: 'end', status: 'error', error: publicFailure(cause) };
  return { kind: 'end', status: 'success', error: null };
}

function outcomeOfStop({ kind, detail }: StopReason): Outcome {
  switch (kind) {
    case 'lease lost':
      return { kind: 'lost' };
    case 'shutdown':
      return { kind: 'release', charge: false };
    case 'timeout':
      return { kind: 'end', status: 'timeout', error: detail };
    case 'cancelled':
      return { kind: 'end', status: 'interrupted', error: detail };
  }
}

/**
 * A rolled-back run may no longer write, which looks like a lost lease. It still holds its place in the queue, which
 * blocks the next run of the thread. If the lease is really lost, this is a no-op.
 */
async function acknowledgeCancel(deps: AttemptContext, attempt: Attempt): Promise<void> {
  await commitEnd(deps, attempt, {
    status: 'interrupted',
    error: null,
    state: undefined,
    batch: EMPTY_BATCH,
  });
}

/** Stores the output of the attempt, so that the next attempt and the followers resume after it. */
async function requeue(
  deps: AttemptContext,
  attempt: Attempt,
  { charge, host_ended }: Extract<Outcome, { kind: 'release' }>,
): Promise<boolean> {
  const batch = await attempt.writes.drain();
  const delay_ms = charge ? deps.rules.retry_ms : 0;
  const failure = charge && host_ended ? hostFailure(deps, attempt) : undefined;
  const isRequeued = await retryWhileUnavailable(deps, attempt, () =>
    deps.queue.requeue(attempt.claimed.lease, { charge, delay_ms, batch, failure }),
  );
  // The loop of due runs wakes the worker when the delay is over.
  if (isRequeued) {
    deps.bus.emit('schedule.changed');
    // The run may have ended instead: its followers read the log.
    deps.bus.updated(attempt.claimed.lease.run_id);
  } else attempt.writes.undrain(batch);
  return isRequeued;
}

/** Says to the client how the host ended at last. */
function hostFailure(
  { hostFailure: rules }: AttemptContext,
  { failure }: Attempt,
): FailurePolicy | undefined {
  if (!rules || !(failure instanceof HostLost)) return rules;
  const { error, message } = rules.exhausted;
  return { ...rules, exhausted: { error, message: `${message} ${failure.message}` } };
}

async function finish(
  deps: AttemptContext,
  attempt: Attempt,
  status: RunStatus,
  error: RunError | null,
): Promise<void> {
  const state = await stateAfter(deps, attempt);
  logEnd(deps, attempt, status, state);
  if (error) attempt.writer.write('error', error);
  const batch = await attempt.writes.drain();
  // Reading a large state and serialising it both block the event loop.
  await yieldToEventLoop();
  await commitEnd(deps, attempt, { status, error, state, batch });
}

async function commitEnd(deps: AttemptContext, attempt: Attempt, end: AttemptEnd): Promise<void> {
  const { lease } = attempt.claimed;
  const endOfRun = runEnd(deps, attempt, end);
  await yieldToEventLoop();
  let { status } = end;
  const finished = await retryWhileUnavailable(deps, attempt, () => deps.queue.finish(lease, endOfRun)).catch(
    (refused: unknown) => {
      status = 'error';
      return commitFailedEnd(deps, attempt, endOfRun, refused);
    },
  );
  if (finished.outcome === 'finished') {
    deps.onEnded?.(runStats(attempt, status, deps.clock.now()));
    return notifyFinished(deps, attempt, end.batch, finished);
  }
  if (finished.outcome === 'lease lost') return;
  // The result depends on steps that the database lost: the next attempt repeats them.
  deps.logger.warn('run released: the database lost part of it', { run_id: lease.run_id });
  const again = { charge: true, delay_ms: 0, batch: EMPTY_BATCH };
  const isRequeued = await retryWhileUnavailable(deps, attempt, () => deps.queue.requeue(lease, again));
  if (isRequeued) deps.bus.emit('schedule.changed');
  else await commitEnd(deps, attempt, { ...end, batch: EMPTY_BATCH });
}

/** Storage rejects the result, such as a value that is too large: the run must still end. */
function commitFailedEnd(
  deps: AttemptContext,
  attempt: Attempt,
  end: RunEnd,
  refused: unknown,
): Promise<FinishResult> {
  const { lease } = attempt.claimed;
  const { run_id } = lease;
  deps.logger.error('cannot store the result of a run', { run_id, error: refused });
  const thread = { ...end.thread, status: 'error', values: null } as const;
  const failed: RunEnd = {
    ...end,
    status: 'error',
    error: publicFailure(refused),
    thread,
    batch: EMPTY_BATCH,
  };
  return retryWhileUnavailable(deps, attempt, () => deps.queue.finish(lease, failed));
}

function runEnd(
  { clock, rules }: AttemptContext,
  { claimed, kwargs, failure }: Attempt,
  { status, error, state, batch }: AttemptEnd,
): RunEnd {
  const { recursion_limit } = kwargs.config;
  return {
    status,
    error,
    thread: {
      status: threadStatusAfter(status, state),
      values: state ? serializeState(state.values) : null,
      interrupts: interruptsOf(state),
      config: { configurable: {}, ...(recursion_limit === undefined ? {} : { recursion_limit }) },
    },
    has_webhook: kwargs.webhook !== null,
    of_cron: claimed.markers.is_of_cron,
    leaves_thread: failure instanceof UnknownInterruptError,
    batch,
    at: timestamp(clock.now()),
    log_retention_ms: kwargs.resumable
      ? rules.log_retention_ms
      : Math.min(rules.log_retention_ms, NON_RESUMABLE_LOG_MS),
    remove_thread: removesThread(claimed.markers.thread_retention, threadStatusAfter(status, state)),
  };
}

function removesThread(retention: ThreadRetention, status: ThreadStatus): boolean {
  switch (retention) {
    case 'keep':
      return false;
    case 'keep_interrupted':
      return status !== 'interrupted';
    case 'delete':
      return true;
  }
}

/** `undefined` without a graph or checkpoint. An unreadable state must not keep the run from ending. */
async function stateAfter({ logger }: AttemptContext, attempt: Attempt): Promise<ThreadState | undefined> {
  const { lease } = attempt.claimed;
  const config = { configurable: { thread_id: lease.thread_id } };
  try {
    return await attempt.graph?.state(config, attempt.memory, false);
  } catch (error) {
    const logged = failureForLog(error);
    logger.error('cannot read the state after a run', { run_id: lease.run_id, error: logged });
    return undefined;
  }
}

function notifyFinished(
  { bus }: AttemptContext,
  { claimed, writer, kwargs }: Attempt,
  batch: Batch,
  finished: Extract<FinishResult, { outcome: 'finished' }>,
): void {
  const data = JSON.stringify(finished.ending);
  writer.committed(batch.frames);
  writer.publishEnd(END_EVENT, data);
  if (finished.promoted) bus.emit('run.ready');
  if (kwargs.webhook !== null) bus.emit('delivery.queued');
  if (claimed.markers.is_of_task) bus.emit('task.ended', claimed.lease.run_id);
}

/**
 * Retries a storage verb while the database is unavailable: an outage must not cost a run its end. Meanwhile it rejects
 * readers that wait for the buffered writes. Rethrows any other error.
 */
async function retryWhileUnavailable<T>(
  { logger, rules }: AttemptContext,
  { writes }: Attempt,
  operation: () => Promise<T>,
): Promise<T> {
  for (;;) {
    try {
      return await operation();
    } catch (error) {
      if (!isStorageUnavailable(error)) throw error;
      writes.rejectReaders(error);
      logger.warn('database unavailable, retrying', { error });
      await sleep(rules.retry_ms);
    }
  }
}

import { timestamp } from '../core/clock.ts';
import { HostLost } from '../core/errors.ts';
import { yieldToEventLoop } from '../core/event-loop.ts';
import { failureForLog, publicFailure, toError } from '../core/failure.ts';
import { UnknownInterruptError } from '../graphs/runtime/command.ts';
import type { ThreadState } from '../schemas/thread-state.ts';
import type { Interrupt, ThreadStatus } from '../schemas/threads.ts';
import { interruptsOf, threadStatusAfter } from '../services/runs/transitions.ts';
import type { FailurePolicy } from '../storage/queue/end-attempt.ts';
import type { FinishResult, RunEnd } from '../storage/queue/finish.ts';
import { END_EVENT } from '../storage/runs/events.ts';
import type { ThreadRetention } from '../storage/runs/markers.ts';
import type { AttemptRecord } from '../storage/runs/steps.ts';
import { type Batch, emptyBatch } from '../storage/runs/write-buffer.ts';
import { serializeState } from '../storage/threads/values-summary.ts';
import { type Attempt, type AttemptContext, recordAttempt, retryWhileUnavailable } from './attempt.ts';
import { askPerson, type EndOutcome, type Outcome, outcomeOf, withoutState } from './outcome.ts';
import { logEnd, runFields, runStats } from './run-log.ts';
import { countEnd, countRequeue, watchExhausted } from './run-metrics.ts';

/** Log retention without event ids, ms: no client can resume such a stream, only connected ones still read the log. */
const NON_RESUMABLE_LOG_MS = 5 * 60_000;

type AttemptEnd = Pick<RunEnd, 'status' | 'error' | 'batch'> & {
  readonly state: ThreadState | undefined;
  /** By whom the thread waits for a person, if not by its graph. */
  readonly asked?: Record<string, Interrupt[]> | undefined;
  /** Undefined if the attempt cannot tell its own end: its lease may be lost. */
  readonly record: AttemptRecord | undefined;
};

/** Commits the end of an attempt to storage, and notifies followers and workers. */
export async function finalizeRun(
  deps: AttemptContext,
  attempt: Attempt,
  signal: AbortSignal,
): Promise<void> {
  // User code may throw any value, even one that throws on `instanceof`.
  if (attempt.failure !== undefined) attempt.failure = toError(attempt.failure);
  const outcome = outcomeOf(deps, attempt, signal);
  const { logger } = deps;
  if (outcome.kind === 'lost') {
    logger.warn('run stopped: its lease was lost', runFields(attempt));
    return acknowledgeCancel(deps, attempt);
  }
  if (outcome.kind === 'release') {
    const message = 'run released, it will be retried';
    logger.warn(message, { ...runFields(attempt), error: attempt.failure });
    attempt.log.keep('warn', message, deps.clock.now());
  }
  if (outcome.kind === 'release' && (await requeue(deps, attempt, outcome))) return;
  if (outcome.kind === 'release' && outcome.lease_ended) return acknowledgeCancel(deps, attempt);
  // A refused requeue means that the run was cancelled in the meantime.
  const end =
    outcome.kind === 'end' ? outcome : ({ kind: 'end', status: 'interrupted', error: null } as const);
  await finish(deps, attempt, end);
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
    record: undefined,
    batch: emptyBatch(),
  });
}

/** Stores the output of the attempt, so that the next attempt and the followers resume after it. */
async function requeue(
  deps: AttemptContext,
  attempt: Attempt,
  { charge, host_ended, lease_ended }: Extract<Outcome, { kind: 'release' }>,
): Promise<boolean> {
  const record = recordAttempt(deps, attempt, 'retried');
  const batch = await attempt.writes.drain();
  const delay_ms = charge ? deps.rules.retry_ms : 0;
  const failure = charge && host_ended ? hostFailure(deps, attempt) : undefined;
  const watched = failure && watchExhausted(failure);
  const isRequeued = await retryWhileUnavailable(deps, attempt, () =>
    deps.queue.requeue(attempt.claimed.lease, { charge, delay_ms, batch, failure: watched?.policy }),
  );
  // The loop of due runs wakes the worker when the delay is over.
  if (isRequeued) {
    attempt.log.committed();
    if (!lease_ended) countRequeue(deps, attempt, { charge, exhausted: watched?.error() });
    deps.onRecorded?.({ claimed: attempt.claimed, steps: batch.steps, attempt: record });
    deps.bus.emit('schedule.changed');
    // The run may have ended instead: its followers read the log.
    deps.bus.updated(attempt.claimed.lease.run_id);
    deps.bus.emit('row.changed', 'run', attempt.claimed.lease.run_id);
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

async function finish(deps: AttemptContext, attempt: Attempt, outcome: EndOutcome): Promise<void> {
  const state = await stateAfter(deps, attempt);
  const { status, error, exhausted } = state ? outcome : withoutState(outcome, attempt);
  logEnd(deps, attempt, status, state);
  const asked = exhausted && state && askPerson(deps, attempt, { exhausted, state });
  if (error) attempt.writer.write('error', error);
  const record = recordAttempt(deps, attempt, status);
  const batch = await attempt.writes.drain();
  // Reading a large state and serialising it both block the event loop.
  await yieldToEventLoop();
  await commitEnd(deps, attempt, { status, error, state, asked, batch, record });
}

async function commitEnd(deps: AttemptContext, attempt: Attempt, end: AttemptEnd): Promise<void> {
  const { lease } = attempt.claimed;
  const endOfRun = runEnd(deps, attempt, end);
  await yieldToEventLoop();
  let stored: Pick<AttemptEnd, 'status' | 'error' | 'batch' | 'record'> = end;
  const finished = await retryWhileUnavailable(deps, attempt, () => deps.queue.finish(lease, endOfRun)).catch(
    (refused: unknown) => {
      stored = { status: 'error', error: publicFailure(refused), batch: emptyBatch(), record: end.record };
      return commitFailedEnd(deps, attempt, endOfRun, refused);
    },
  );
  if (finished.outcome === 'finished') {
    countEnd(deps, runStats(attempt, stored.status, deps.clock.now()), end.error);
    deps.onRecorded?.({
      claimed: attempt.claimed,
      steps: stored.batch.steps,
      attempt: stored.record,
      end: { status: finished.ending.status, error: stored.error, at: endOfRun.at },
    });
    return notifyFinished(deps, attempt, end.batch, finished);
  }
  if (finished.outcome === 'lease lost') return;
  // The result depends on steps that the database lost: the next attempt repeats them.
  deps.logger.warn('run released: the database lost part of it', runFields(attempt));
  const again = { charge: true, delay_ms: 0, batch: emptyBatch() };
  const isRequeued = await retryWhileUnavailable(deps, attempt, () => deps.queue.requeue(lease, again));
  if (isRequeued) {
    countRequeue(deps, attempt, { charge: true, exhausted: undefined });
    deps.bus.emit('schedule.changed');
  } else await commitEnd(deps, attempt, { ...end, batch: emptyBatch() });
}

/** Storage rejects the result, such as a value that is too large: the run must still end. */
function commitFailedEnd(
  deps: AttemptContext,
  attempt: Attempt,
  end: RunEnd,
  refused: unknown,
): Promise<FinishResult> {
  const { lease } = attempt.claimed;
  deps.meter?.count('run_set_status_error');
  deps.logger.error('cannot store the result of a run', { ...runFields(attempt), error: refused });
  const thread = { ...end.thread, status: 'error', values: null } as const;
  const failed: RunEnd = {
    ...end,
    status: 'error',
    error: publicFailure(refused),
    thread,
    batch: emptyBatch(),
  };
  return retryWhileUnavailable(deps, attempt, () => deps.queue.finish(lease, failed));
}

function runEnd(
  { clock, rules }: AttemptContext,
  { claimed, kwargs, failure }: Attempt,
  { status, error, state, asked, batch }: AttemptEnd,
): RunEnd {
  const { recursion_limit } = kwargs.config;
  return {
    status,
    error,
    thread: {
      status: threadStatusAfter(status, state),
      values: state ? serializeState(state.values) : null,
      interrupts: { ...interruptsOf(state), ...asked },
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
    logger.error('cannot read the state after a run', { ...runFields(attempt), error: logged });
    return undefined;
  }
}

function notifyFinished(
  { bus }: AttemptContext,
  { claimed, writer, log, kwargs }: Attempt,
  batch: Batch,
  finished: Extract<FinishResult, { outcome: 'finished' }>,
): void {
  const data = JSON.stringify(finished.ending);
  writer.committed(batch.frames);
  // Before the end, at which followers of the lines stop.
  log.ended();
  writer.publishEnd(END_EVENT, data);
  if (finished.promoted) bus.emit('run.ready');
  bus.emit('row.changed', 'run', claimed.lease.run_id);
  bus.emit('row.changed', 'thread', claimed.lease.thread_id);
  if (kwargs.webhook !== null) bus.emit('delivery.queued');
  if (claimed.markers.is_of_task) bus.emit('task.ended', claimed.lease.run_id);
}

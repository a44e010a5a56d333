import { timestamp } from '../core/clock.ts';
import { ClockBehind, HostLost, LeaseLost } from '../core/errors.ts';
import { yieldToEventLoop } from '../core/event-loop.ts';
import { failureForLog, toError } from '../core/failure.ts';
import { failureClass } from '../core/failure-class.ts';
import { ResumeRefused } from '../graphs/runtime/resume-refused.ts';
import { runContents } from '../graphs/steps/contents.ts';
import type { ThreadState } from '../schemas/thread-state.ts';
import type { Interrupt } from '../schemas/threads.ts';
import { interruptsOf, removesThread, threadStatusAfter } from '../services/runs/transitions.ts';
import type { FinishResult, RunEnd } from '../storage/queue/finish.ts';
import { type Batch, emptyBatch } from '../storage/runs/batch.ts';
import { END_EVENT } from '../storage/runs/events.ts';
import type { AttemptRecord } from '../storage/runs/steps.ts';
import { serializeState } from '../storage/threads/values-summary.ts';
import {
  type Attempt,
  type AttemptContext,
  type EndOutcome,
  type Outcome,
  recordAttempt,
  retryWhileUnavailable,
  runError,
  StopReason,
} from './attempt.ts';
import { withPendingIds } from './refused-answer.ts';
import { announceReleased } from './released-run.ts';
import { requeue } from './requeue-run.ts';
import { logEnd, runFields, runStats } from './run-log.ts';
import { askPerson, stoppedOutcome, withoutState } from './stopped.ts';

/** Log retention without event ids, ms: no client can resume such a stream, only connected ones still read the log. */
const NON_RESUMABLE_LOG_MS = 5 * 60_000;

type AttemptEnd = Pick<RunEnd, 'status' | 'error' | 'batch'> & {
  readonly state: ThreadState | undefined;
  /** By whom the thread waits for a person, if not by its graph. */
  readonly asked?: Record<string, Interrupt[]> | undefined;
  /** Undefined if the attempt does not know its own end: its lease may be lost. */
  readonly record: AttemptRecord | undefined;
};

type StoredEnd = Pick<AttemptEnd, 'status' | 'error' | 'batch' | 'record'>;

/** Commits the end of an attempt to storage, and notifies followers and workers. */
export async function finalizeRun(
  deps: AttemptContext,
  attempt: Attempt,
  signal: AbortSignal,
): Promise<void> {
  // User code may throw any value, even one that throws on `instanceof`.
  if (attempt.failure !== undefined) attempt.failure = toError(attempt.failure);
  const outcome = outcomeOf(attempt, signal);
  const { logger } = deps;
  if (outcome.kind === 'lost') {
    logger.warn('run stopped: its lease was lost', runFields(attempt));
    return acknowledgeCancel(deps, attempt);
  }
  if (outcome.kind === 'release' && (await requeue(deps, attempt, outcome))) return;
  if (outcome.kind === 'release' && outcome.lease_ended) return acknowledgeCancel(deps, attempt);
  // A refused requeue means that the run was cancelled in the meantime.
  const end =
    outcome.kind === 'end' ? outcome : ({ kind: 'end', status: 'interrupted', error: null } as const);
  await finish(deps, attempt, end);
}

/** How an attempt ends that threw `attempt.failure` or was stopped by `signal`. A limit that caused it takes precedence. */
function outcomeOf(attempt: Attempt, signal: AbortSignal): Outcome {
  return stoppedOutcome(attempt, signal) ?? stopOrFailure(attempt.failure, signal);
}

function stopOrFailure(failure: unknown, signal: AbortSignal): Outcome {
  const cause = signal.aborted ? signal.reason : failure;
  if (cause instanceof LeaseLost) return { kind: 'lost' };
  if (cause instanceof StopReason) return outcomeOfStop(cause);
  if (cause instanceof HostLost) return { kind: 'release', charge: cause.charge, host_ended: true };
  if (cause instanceof ClockBehind)
    return { kind: 'release', charge: false, clock_behind_ms: cause.behind_ms };
  if (cause === undefined) return { kind: 'end', status: 'success', error: null };
  switch (failureClass(cause)) {
    case 'storage away':
      return { kind: 'release', charge: true };
    case 'storage busy':
    case 'storage full':
    case 'server busy':
      return { kind: 'release', charge: true, storage_failed: true };
    case 'storage refused':
    case 'project':
    case 'client':
    case 'later':
    case 'unknown':
      return { kind: 'end', status: 'error', error: runError(cause) };
  }
}

function outcomeOfStop({ kind, detail }: StopReason): Outcome {
  switch (kind) {
    case 'lease lost':
      return { kind: 'lost' };
    case 'shutdown':
      return { kind: 'release', charge: false };
    // By this process's clock: another one may not have claimed the run yet.
    case 'lease ended':
      return { kind: 'release', charge: false, lease_ended: true };
    case 'timeout':
      return { kind: 'end', status: 'timeout', error: detail };
    case 'cancelled':
      return { kind: 'end', status: 'interrupted', error: detail };
  }
}

/**
 * A rolled-back run may no longer write, which looks like a lost lease. It still holds its place in the queue, which
 * blocks the next run of the thread, and is charged for what it used. If the lease is really lost, only that is stored.
 */
async function acknowledgeCancel(deps: AttemptContext, attempt: Attempt): Promise<void> {
  // A commit under way may never end: its database may be away.
  const batch = attempt.writes.mayBeStored ? emptyBatch() : await attempt.writes.drain();
  await commitEnd(deps, attempt, {
    status: 'interrupted',
    error: null,
    state: undefined,
    record: undefined,
    batch: { ...batch, frames: [], writes: [], attempt: undefined },
  });
}

async function finish(deps: AttemptContext, attempt: Attempt, outcome: EndOutcome): Promise<void> {
  const state = await stateAfter(deps, attempt);
  const end = state ? withPendingIds(outcome, state) : withoutState(outcome, attempt);
  const { status, error, ask } = end;
  logEnd(deps, attempt, status, state);
  const asked = ask && state && askPerson(attempt, { ask, state });
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
  let stored: StoredEnd = end;
  const finished = await finishRun(deps, attempt, endOfRun).catch(async (refused: unknown) => {
    const failed = await commitFailedEnd(deps, attempt, end, endOfRun, refused);
    stored = failed.stored;
    return failed.finished;
  });
  if (finished.outcome === 'finished') {
    deps.onEnded?.(runStats(attempt, stored.status, deps.clock.now()));
    deps.onRecorded?.({
      claimed: attempt.claimed,
      steps: stored.batch.steps,
      attempt: stored.record,
      end: {
        status: finished.ending.status,
        error: stored.error,
        at: endOfRun.at,
        contents: () => runContents(attempt.kwargs, end.state?.values),
      },
    });
    const was_refused = endOfRun.refused === 'not_pending';
    // An answer to what nothing asks may have come from an outdated row; a lease that ended early leaves the state unread.
    if (was_refused || (end.state === undefined && end.status === 'interrupted')) {
      // Reads of the state wait until the attempt has ended.
      attempt.writes[Symbol.dispose]();
      await deps.storeStateAfterRun?.({ ...lease, was_refused });
    }
    return notifyFinished(deps, attempt, finished, stored === end ? end.batch : undefined);
  }
  if (finished.outcome === 'lease lost') return countLost(deps, attempt, end.batch);
  // The result depends on steps that the database lost: the next attempt repeats them.
  deps.logger.warn('run released: the database lost part of it', runFields(attempt));
  const again = { charge: true, delay_ms: 0, batch: emptyBatch() };
  const released = await retryWhileUnavailable(deps, attempt, () => deps.queue.requeue(lease, again));
  if (!released) return commitEnd(deps, attempt, { ...end, batch: emptyBatch() });
  attempt.writes[Symbol.dispose]();
  await announceReleased(deps, lease, released);
}

/** Usage counts even if another process now owns the run. Tried once, as a repetition might count it twice. */
async function countLost({ queue, logger }: AttemptContext, attempt: Attempt, batch: Batch): Promise<void> {
  if (attempt.writes.mayBeStored) return;
  try {
    await queue.countLost(attempt.claimed.lease, batch);
  } catch (error) {
    logger.error('cannot count what an attempt has used', { ...runFields(attempt), error });
  }
}

function finishRun(deps: AttemptContext, attempt: Attempt, end: RunEnd): Promise<FinishResult> {
  return retryWhileUnavailable(deps, attempt, () => deps.queue.finish(attempt.claimed.lease, end));
}

/**
 * Storage rejects the result, such as a value that is too large: the run must still end, with what it used, unless that
 * is what storage rejects.
 */
async function commitFailedEnd(
  deps: AttemptContext,
  attempt: Attempt,
  { record, batch }: AttemptEnd,
  end: RunEnd,
  refused: unknown,
): Promise<{ readonly finished: FinishResult; readonly stored: StoredEnd }> {
  deps.logger.error('cannot store the result of a run', { ...runFields(attempt), error: refused });
  const error = runError(refused);
  const thread = { ...end.thread, status: 'error', values: null } as const;
  const bare: Batch = { ...emptyBatch(), frames: [attempt.writer.errorInstead(error)] };
  const used: Batch = { ...batch, ...bare, steps: batch.steps, attempt: asFailed(batch.attempt) };
  const finishWith = async (storable: Batch) => {
    const stored = { status: 'error', error, batch: storable, record: asFailed(record) } as const;
    return { finished: await finishRun(deps, attempt, { ...end, ...stored, thread }), stored };
  };
  return finishWith(used).catch((again: unknown) => {
    deps.logger.error('cannot store what a run has used', { ...runFields(attempt), error: again });
    return finishWith(bare);
  });
}

function asFailed(record: AttemptRecord | undefined): AttemptRecord | undefined {
  return record && { ...record, status: 'error' };
}

function runEnd(
  { clock, rules }: AttemptContext,
  { claimed, kwargs, failure, log }: Attempt,
  { status, error, state, asked, batch }: AttemptEnd,
): RunEnd {
  const { recursion_limit } = kwargs.config;
  const refused = failure instanceof ResumeRefused ? failure.refusal.reason : undefined;
  const thread_status = threadStatusAfter(refused ? 'success' : status, state);
  return {
    status,
    error,
    thread: {
      status: thread_status,
      values: state ? serializeState(state.values) : null,
      interrupts: { ...interruptsOf(state), ...asked },
      config: { configurable: {}, ...(recursion_limit === undefined ? {} : { recursion_limit }) },
    },
    has_webhook: kwargs.webhook !== null,
    of_cron: claimed.markers.is_of_cron,
    refused,
    batch,
    at: timestamp(clock.now()),
    log_retention_ms: kwargs.resumable
      ? rules.log_retention_ms
      : Math.min(rules.log_retention_ms, NON_RESUMABLE_LOG_MS),
    remove_thread: removesThread(claimed.markers.thread_retention, thread_status),
    has_lines: log.mayBeStored,
  };
}

/** `undefined` without a graph or checkpoint. An unreadable state must not keep the run from ending. */
async function stateAfter({ logger }: AttemptContext, attempt: Attempt): Promise<ThreadState | undefined> {
  const { lease } = attempt.claimed;
  const config = { configurable: { thread_id: lease.thread_id } };
  try {
    return await attempt.graph?.state(config, attempt.memory, false);
  } catch (error) {
    // The end of the run will be refused for that.
    if (error instanceof LeaseLost) return undefined;
    const logged = failureForLog(error);
    logger.error('cannot read the state after a run', { ...runFields(attempt), error: logged });
    return undefined;
  }
}

/** `batch`: undefined if storage has another end of the log than the attempt has written. */
function notifyFinished(
  { bus }: AttemptContext,
  { claimed, writer, log, kwargs }: Attempt,
  finished: Extract<FinishResult, { outcome: 'finished' }>,
  batch: Batch | undefined,
): void {
  if (batch) writer.committed(batch.frames);
  // Before the end, at which followers of the lines stop.
  log.ended();
  if (batch) writer.publishEnd(END_EVENT, JSON.stringify(finished.ending));
  else writer.leaveToLog();
  if (finished.promoted) bus.emit('run.ready');
  bus.emit('row.changed', 'run', claimed.lease.run_id);
  bus.emit('row.changed', 'thread', claimed.lease.thread_id);
  if (kwargs.webhook !== null) bus.emit('delivery.queued');
  if (claimed.announces_end) bus.emit('run.ended', claimed.lease.run_id);
}

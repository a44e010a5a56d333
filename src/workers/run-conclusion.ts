import { timestamp } from '../core/clock.ts';
import { LeaseLost } from '../core/errors.ts';
import { yieldTurn } from '../core/event-loop.ts';
import { asError, publicFailure } from '../core/failure.ts';
import { loggedFailure } from '../core/failure-log.ts';
import { isObject } from '../core/json.ts';
import { sleep } from '../core/timers.ts';
import { UnknownInterruptError } from '../graphs/command.ts';
import type { RunKwargs, RunStatus } from '../schemas/runs.ts';
import type { ThreadState } from '../schemas/thread-state.ts';
import type { RunError, ThreadStatus } from '../schemas/threads.ts';
import { KEEP_INTERRUPTED } from '../services/run-options.ts';
import { interruptsOf, threadStatusAfter } from '../services/transitions.ts';
import type { Finished, RunEnd } from '../storage/queue/finish.ts';
import { END_EVENT } from '../storage/runs/events.ts';
import type { Batch } from '../storage/runs/write-buffer.ts';
import { stateText } from '../storage/threads/values-summary.ts';
import type { Attempt, AttemptDeps } from './run-attempt.ts';
import { isInfrastructure } from './run-error.ts';
import { endedRun, logEnd, runFields } from './run-report.ts';
import { StopReason } from './stop-reason.ts';

/** Nobody can come back to a stream without event ids; its log only serves who still reads it, ms. */
const UNRESUMABLE_LOG_MS = 5 * 60_000;

/** A batch without anything, which goes on from nothing. */
const NOTHING: Batch = { frames: [], writes: [] };

type EndOfAttempt = Pick<RunEnd, 'status' | 'error' | 'batch'> & { readonly state: ThreadState | undefined };

type Outcome =
  | { readonly kind: 'lost' }
  | { readonly kind: 'release'; readonly charge: boolean }
  | { readonly kind: 'end'; readonly status: RunStatus; readonly error: RunError | null };

/** Brings an attempt to its end in storage, and tells followers and workers. */
export async function conclude(deps: AttemptDeps, attempt: Attempt, signal: AbortSignal): Promise<void> {
  // What is thrown may be anything, also a value that cannot be asked for its class.
  if (attempt.failure !== undefined) attempt.failure = asError(attempt.failure);
  const outcome = outcomeOf(attempt.failure, signal);
  const { logger } = deps;
  if (outcome.kind === 'lost') {
    logger.warn('run stopped: its lease was lost', runFields(attempt));
    return acknowledgeRollback(deps, attempt);
  }
  if (outcome.kind === 'release')
    logger.warn('run released, it will be retried', { ...runFields(attempt), error: attempt.failure });
  if (outcome.kind === 'release' && (await released(deps, attempt, outcome.charge))) return;
  // A release that is refused was cancelled meanwhile.
  const end = outcome.kind === 'end' ? outcome : ({ status: 'interrupted', error: null } as const);
  await finish(deps, attempt, end.status, end.error);
}

function outcomeOf(failure: unknown, signal: AbortSignal): Outcome {
  const cause = signal.aborted ? signal.reason : failure;
  if (cause instanceof LeaseLost) return { kind: 'lost' };
  if (cause instanceof StopReason) return stopped(cause);
  if (isInfrastructure(cause)) return { kind: 'release', charge: true };
  if (cause !== undefined) return { kind: 'end', status: 'error', error: publicFailure(cause) };
  return { kind: 'end', status: 'success', error: null };
}

function stopped({ kind, detail }: StopReason): Outcome {
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
 * A run that was rolled back may write nothing, which looks as if another had its lease; but it still has its place in
 * the queue, and the next run of the thread waits for that. Where the lease is lost indeed, this changes nothing.
 */
async function acknowledgeRollback(deps: AttemptDeps, attempt: Attempt): Promise<void> {
  await finishWith(deps, attempt, { status: 'interrupted', error: null, state: undefined, batch: NOTHING });
}

/** What was produced is kept, so that the next attempt and the followers go on after it. */
async function released(deps: AttemptDeps, attempt: Attempt, charge: boolean): Promise<boolean> {
  const batch = await attempt.writes.take();
  const delay_ms = charge ? deps.rules.retry_ms : 0;
  const isReleased = await patiently(deps, attempt, () =>
    deps.queue.release(attempt.claimed.lease, { charge, delay_ms, batch }),
  );
  // The loop of due runs wakes the worker when its time has come.
  if (isReleased) deps.bus.scheduled();
  else attempt.writes.restore(batch);
  return isReleased;
}

async function finish(
  deps: AttemptDeps,
  attempt: Attempt,
  status: RunStatus,
  error: RunError | null,
): Promise<void> {
  const state = await stateAfter(deps, attempt);
  logEnd(deps, attempt, status, state);
  if (error) attempt.writer.write('error', error);
  const batch = await attempt.writes.take();
  // The state was read, and is about to be made text: either takes long when it is large.
  await yieldTurn();
  await finishWith(deps, attempt, { status, error, state, batch });
}

async function finishWith(deps: AttemptDeps, attempt: Attempt, end: EndOfAttempt): Promise<void> {
  const { lease } = attempt.claimed;
  const whole = runEnd(deps, attempt, end);
  await yieldTurn();
  let { status } = end;
  const finished = await patiently(deps, attempt, () => deps.queue.finish(lease, whole)).catch(
    (refused: unknown) => {
      status = 'error';
      return finishRefused(deps, attempt, whole, refused);
    },
  );
  if (finished.outcome === 'finished') {
    deps.onEnded?.(endedRun(attempt, status, deps.clock.now()));
    return announce(deps, attempt, end.batch, finished);
  }
  if (finished.outcome === 'lease lost') return;
  // What the run came to stands on steps that the database lost: the next attempt takes them again.
  deps.logger.warn('run released: the database lost part of it', { run_id: lease.run_id });
  const again = { charge: true, delay_ms: 0, batch: NOTHING };
  const isReleased = await patiently(deps, attempt, () => deps.queue.release(lease, again));
  if (isReleased) deps.bus.scheduled();
  else await finishWith(deps, attempt, { ...end, batch: NOTHING });
}

/** Storage cannot take what the run produced, such as a value that is too large: the run must still end. */
function finishRefused(
  deps: AttemptDeps,
  attempt: Attempt,
  end: RunEnd,
  refused: unknown,
): Promise<Finished> {
  const { lease } = attempt.claimed;
  const { run_id } = lease;
  deps.logger.error('cannot store the result of a run', { run_id, error: refused });
  const thread = { ...end.thread, status: 'error', values: null } as const;
  const failed: RunEnd = { ...end, status: 'error', error: publicFailure(refused), thread, batch: NOTHING };
  return patiently(deps, attempt, () => deps.queue.finish(lease, failed));
}

function runEnd(
  { clock, rules }: AttemptDeps,
  { kwargs, failure }: Attempt,
  { status, error, state, batch }: EndOfAttempt,
): RunEnd {
  const { recursion_limit } = kwargs.config;
  return {
    status,
    error,
    thread: {
      status: threadStatusAfter(status, state),
      values: state ? stateText(state.values) : null,
      interrupts: interruptsOf(state),
      config: { configurable: {}, ...(recursion_limit === undefined ? {} : { recursion_limit }) },
    },
    has_webhook: kwargs.webhook !== null,
    of_cron: kwargs.config.configurable['cron_id'] !== undefined,
    leaves_thread: failure instanceof UnknownInterruptError,
    batch,
    at: timestamp(clock.now()),
    keep_log_ms: kwargs.resumable ? rules.keep_log_ms : Math.min(rules.keep_log_ms, UNRESUMABLE_LOG_MS),
    remove_thread:
      kwargs.temporary && !keepsThread(kwargs['on_completion'], threadStatusAfter(status, state)),
  };
}

function keepsThread(on_completion: unknown, status: ThreadStatus): boolean {
  return on_completion === 'keep' || (on_completion === KEEP_INTERRUPTED && status === 'interrupted');
}

/** Undefined when there is no graph or no checkpoint; a state that cannot be read must not keep the run from ending. */
async function stateAfter({ logger }: AttemptDeps, attempt: Attempt): Promise<ThreadState | undefined> {
  const { lease } = attempt.claimed;
  const config = { configurable: { thread_id: lease.thread_id } };
  try {
    return await attempt.graph?.state(config, attempt.memory, false);
  } catch (error) {
    const logged = loggedFailure(error);
    logger.error('cannot read the state after a run', { run_id: lease.run_id, error: logged });
    return undefined;
  }
}

function announce(
  { bus }: AttemptDeps,
  { claimed, writer, kwargs }: Attempt,
  batch: Batch,
  finished: Extract<Finished, { outcome: 'finished' }>,
): void {
  const data = JSON.stringify(finished.ending);
  writer.committed(batch.frames);
  writer.showEnd(END_EVENT, data);
  if (finished.promoted) bus.wake();
  if (kwargs.webhook !== null) bus.outbox();
  if (isOfTask(kwargs)) bus.task(claimed.lease.run_id);
}

function isOfTask({ config }: RunKwargs): boolean {
  const protocol = config.configurable['protocol'];
  return isObject(protocol) && protocol['name'] === 'a2a';
}

/**
 * Repeats a verb while the database is away, which must not cost a run its end; meanwhile nobody waits to read what it
 * would write. Throws what is no failure of storage.
 */
async function patiently<T>(
  { logger, rules }: AttemptDeps,
  { writes }: Attempt,
  verb: () => Promise<T>,
): Promise<T> {
  for (;;) {
    try {
      return await verb();
    } catch (error) {
      if (!isInfrastructure(error)) throw error;
      writes.away(error);
      logger.warn('database unavailable, retrying', { error });
      await sleep(rules.retry_ms);
    }
  }
}

import { timestamp } from '../core/clock.ts';
import { LeaseLost } from '../core/errors.ts';
import { isObject } from '../core/json.ts';
import { UnknownInterruptError } from '../graphs/command.ts';
import type { RunKwargs, RunStatus } from '../schemas/runs.ts';
import type { ThreadState } from '../schemas/thread-state.ts';
import type { RunError, ThreadStatus } from '../schemas/threads.ts';
import { KEEP_INTERRUPTED } from '../services/run-options.ts';
import { interruptsOf, threadStatusAfter } from '../services/transitions.ts';
import type { Batch } from '../storage/attempt-writes.ts';
import { END_EVENT } from '../storage/queue/end-log.ts';
import type { Finished, RunEnd } from '../storage/queue/finish.ts';
import { stateText } from '../storage/thread-outline.ts';
import type { Attempt, AttemptDeps } from './run-attempt.ts';
import { isInfrastructure, runErrorOf } from './run-error.ts';
import { StopReason } from './stop-reason.ts';

/** Nobody can come back to a stream without event ids; its log only serves who still reads it, ms. */
const UNRESUMABLE_LOG_MS = 5 * 60_000;

type Outcome =
  | { readonly kind: 'lost' }
  | { readonly kind: 'release'; readonly charge: boolean }
  | { readonly kind: 'end'; readonly status: RunStatus; readonly error: RunError | null };

/** Brings an attempt to its end in storage, and tells followers and workers. */
export async function conclude(deps: AttemptDeps, attempt: Attempt, signal: AbortSignal): Promise<void> {
  const outcome = outcomeOf(attempt.failure, signal);
  report(deps, attempt, outcome);
  if (outcome.kind === 'lost') return letGo(deps, attempt);
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
  if (cause !== undefined) return { kind: 'end', status: 'error', error: runErrorOf(cause) };
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

function report({ logger }: AttemptDeps, { claimed, failure }: Attempt, outcome: Outcome): void {
  const { run_id, thread_id, attempt } = claimed.lease;
  const log = logger.with({ run_id, thread_id, attempt });
  if (outcome.kind === 'lost') log.warn('run stopped: it was taken away');
  else if (outcome.kind === 'release') log.warn('run released, it will be tried again', { error: failure });
  else if (outcome.status === 'error') log.error('run failed', { error: failure });
  else log.info('run ended', { status: outcome.status });
}

/**
 * A run that was rolled back may write nothing, which looks as if another had its lease; but it still has its place in
 * the queue, and whoever comes next waits for that. Where the lease is lost indeed, this changes nothing.
 */
async function letGo(deps: AttemptDeps, attempt: Attempt): Promise<void> {
  const batch = { frames: [], writes: [] };
  const end = runEnd(deps, attempt, { status: 'interrupted', error: null, state: undefined, batch });
  const finished = await patiently(deps, () => deps.queue.finish(attempt.claimed.lease, end));
  if (finished.outcome === 'finished') announce(deps, attempt, batch, finished);
}

/** What was produced is kept, so that the next attempt and the followers go on after it. */
async function released(deps: AttemptDeps, { claimed, writes }: Attempt, charge: boolean): Promise<boolean> {
  const batch = await writes.take();
  const delay_ms = charge ? deps.rules.retry_ms : 0;
  const isReleased = await patiently(deps, () =>
    deps.queue.release(claimed.lease, { charge, delay_ms, batch }),
  );
  // Somebody must wake the worker when its time has come.
  if (isReleased) deps.bus.scheduled();
  return isReleased;
}

async function finish(
  deps: AttemptDeps,
  attempt: Attempt,
  status: RunStatus,
  error: RunError | null,
): Promise<void> {
  const { lease } = attempt.claimed;
  const state = await stateAfter(deps, attempt);
  if (error) attempt.writer.write('error', error);
  const batch = await attempt.writes.take();
  const end = runEnd(deps, attempt, { status, error, state, batch });
  const finished = await patiently(deps, () => deps.queue.finish(lease, end)).catch((refused: unknown) =>
    finishRefused(deps, attempt, end, refused),
  );
  if (finished.outcome === 'finished') announce(deps, attempt, batch, finished);
}

/** Storage cannot take what the run produced, such as a value that is too large: the run must still end. */
function finishRefused(
  deps: AttemptDeps,
  { claimed }: Attempt,
  end: RunEnd,
  refused: unknown,
): Promise<Finished> {
  const { run_id } = claimed.lease;
  deps.logger.error('what a run produced cannot be stored', { run_id, error: refused });
  const thread = { ...end.thread, status: 'error', values: null } as const;
  const batch = { frames: [], writes: [] };
  const failed: RunEnd = { ...end, status: 'error', error: runErrorOf(refused), thread, batch };
  return patiently(deps, () => deps.queue.finish(claimed.lease, failed));
}

function runEnd(
  { clock, rules }: AttemptDeps,
  { kwargs, failure }: Attempt,
  {
    status,
    error,
    state,
    batch,
  }: Pick<RunEnd, 'status' | 'error' | 'batch'> & { state: ThreadState | undefined },
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
    logger.error('the state after a run cannot be read', { run_id: lease.run_id, error });
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

/** A database that is away for a moment must not cost a run its end; its lease ends the wait. */
async function patiently<T>({ logger, rules }: AttemptDeps, verb: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await verb();
    } catch (error) {
      if (!isInfrastructure(error)) throw error;
      logger.warn('storage is away, trying again', { error });
      await new Promise((resolve) => setTimeout(resolve, rules.retry_ms));
    }
  }
}

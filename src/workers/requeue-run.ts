import { HostLost } from '../core/errors.ts';
import type { Meter } from '../core/meter.ts';
import { logUpdated } from '../events/bus.ts';
import type { RunError } from '../schemas/threads.ts';
import type { FailurePolicy } from '../storage/queue/end-attempt.ts';
import type { RunQueue } from '../storage/queue/queue.ts';
import { emptyBatch } from '../storage/runs/batch.ts';
import type { Lease } from '../storage/runs/lease.ts';
import {
  type Attempt,
  type AttemptContext,
  type Outcome,
  recordAttempt,
  retryWhileUnavailable,
} from './attempt.ts';
import { runStats } from './run-log.ts';
import { countEnd } from './run-metrics.ts';

/** Longest delay of a run whose server's clock is behind, ms: another server, or NTP, may be faster than time. */
const MAX_CLOCK_DELAY_MS = 30_000;

type Release = Extract<Outcome, { kind: 'release' }>;

/** Stores the output of the attempt, so that the next attempt and the followers resume after it. */
export async function requeue(
  deps: AttemptContext,
  attempt: Attempt,
  { charge, host_ended, storage_failed, lease_ended, clock_behind_ms }: Release,
): Promise<boolean> {
  const record = recordAttempt(deps, attempt, 'retried');
  const batch = await attempt.writes.drain();
  const is_clock_behind = clock_behind_ms !== undefined;
  const delay_ms = charge
    ? deps.rules.retry_ms
    : Math.min(Math.ceil(clock_behind_ms ?? 0), MAX_CLOCK_DELAY_MS);
  const failure = charge && host_ended ? hostFailure(deps, attempt) : undefined;
  const watched = failure && watchExhausted(failure);
  const ofStorage = storage_failed && deps.storageFailure && watchExhausted(deps.storageFailure);
  const isRequeued = await retryWhileUnavailable(deps, attempt, (failures) =>
    deps.queue.requeue(attempt.claimed.lease, {
      charge,
      delay_ms,
      batch,
      is_clock_behind,
      // Storage takes this at once, with what it refused before: the run itself may be too much for it.
      ...(failures === 0 && ofStorage
        ? { failure: ofStorage.policy, is_of_storage: true }
        : { failure: watched?.policy }),
    }),
  );
  // The loop of due runs wakes the worker when the delay is over.
  if (isRequeued) {
    attempt.log.committed();
    if (!lease_ended)
      countRequeue(deps, attempt, {
        charge: charge || is_clock_behind,
        exhausted: watched?.error() ?? (ofStorage || undefined)?.error(),
      });
    deps.onRecorded?.({ claimed: attempt.claimed, steps: batch.steps, attempt: record });
    deps.bus.emit('schedule.changed');
    // The run may have ended instead: its followers read the log.
    logUpdated(deps.bus, attempt.claimed.lease);
    deps.bus.emit('row.changed', 'run', attempt.claimed.lease.run_id);
  } else attempt.writes.undrain(batch);
  return isRequeued;
}

/** Returns the run of an attempt without output to the queue, and counts it. False if the lease is lost. */
export async function requeueFailed(
  { queue, failure, meter }: { queue: RunQueue; failure: FailurePolicy; meter?: Meter | undefined },
  lease: Lease,
  delay_ms: number,
): Promise<boolean> {
  const { policy, error } = watchExhausted(failure);
  const release = { charge: true, delay_ms, batch: emptyBatch(), failure: policy };
  const isHeld = await queue.requeue(lease, release);
  if (isHeld) meter?.count(error() ? 'run_failed_after_retry' : 'run_failed_retriable');
  return isHeld;
}

/**
 * Counts an attempt whose run returns to the queue. `charge`: it failed; otherwise the server stopped. `exhausted`: the
 * error of a run that has ended instead, because it failed too often.
 */
export function countRequeue(
  deps: AttemptContext,
  attempt: Attempt,
  { charge, exhausted }: { charge: boolean; exhausted: RunError | undefined },
): void {
  if (exhausted) countEnd(deps, runStats(attempt, 'error', deps.clock.now()), exhausted);
  else deps.meter?.count(charge ? 'run_failed_retriable' : 'run_abandoned_by_shutdown');
}

/** Reports to the client how the host ended. */
function hostFailure(
  { hostFailure: rules }: AttemptContext,
  { failure }: Attempt,
): FailurePolicy | undefined {
  if (!rules || !(failure instanceof HostLost)) return rules;
  const { error, message } = rules.exhausted;
  return { ...rules, exhausted: { error, message: `${message} ${failure.message}` } };
}

/** The policy, and the error of a run that has ended for it. */
function watchExhausted(rules: FailurePolicy): {
  readonly policy: FailurePolicy;
  error(): RunError | undefined;
} {
  let error: RunError | undefined;
  const onExhausted = () => {
    error = rules.exhausted;
  };
  return { policy: { ...rules, onExhausted }, error: () => error };
}

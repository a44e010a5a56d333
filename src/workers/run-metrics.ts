import type { Meter } from '../core/meter.ts';
import type { EndedRun } from '../schemas/system.ts';
import type { RunError } from '../schemas/threads.ts';
import type { FailurePolicy } from '../storage/queue/end-attempt.ts';
import type { RunQueue } from '../storage/queue/queue.ts';
import type { Lease } from '../storage/runs/lease.ts';
import { emptyBatch } from '../storage/runs/write-buffer.ts';
import type { Attempt, AttemptContext } from './attempt.ts';
import { firstWait, isFirst, runStats } from './run-log.ts';

/** Counts an attempt that begins, and how long it waited for a worker. */
export function countStart({ meter }: AttemptContext, attempt: Attempt): void {
  meter?.count('run_attempt_started');
  if (isFirst(attempt)) {
    meter?.observe('run_queue_wait_time_1st_attempt', firstWait(attempt));
    return;
  }
  const waited_ms = attempt.started - Date.parse(attempt.claimed.due_at);
  meter?.observe('run_queue_wait_time_retry_attempt', Math.max(0, waited_ms));
}

/** Counts a run that has ended in this process. */
export function countEnd({ meter, onEnded }: AttemptContext, run: EndedRun, error: RunError | null): void {
  if (run.status === 'success') meter?.count('run_success');
  else if (run.status === 'interrupted') meter?.count('run_canceled_by_request');
  else meter?.count('run_failed_after_retry');
  if (error?.error === 'GraphRecursionError') meter?.count('graph_recursion_limit_error');
  if (run.ms !== undefined) meter?.observe('run_execution_latency', run.ms);
  onEnded?.(run);
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

/** The policy, and the error of a run that has ended for it. */
export function watchExhausted(rules: FailurePolicy): {
  readonly policy: FailurePolicy;
  error(): RunError | undefined;
} {
  let error: RunError | undefined;
  const onExhausted = () => {
    error = rules.exhausted;
  };
  return { policy: { ...rules, onExhausted }, error: () => error };
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

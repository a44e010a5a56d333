import type { EndedRun } from '../schemas/system.ts';
import type { RunError } from '../schemas/threads.ts';
import type { Attempt, AttemptContext } from './attempt.ts';
import { firstWait, isFirst } from './run-log.ts';

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

import { errorStack, failureForLog } from '../core/failure.ts';
import type { LogFields } from '../core/logger.ts';
import { traceIdOf } from '../core/trace-ids.ts';
import { graphIdOf, type Run, type RunStatus } from '../schemas/runs.ts';
import type { EndedRun } from '../schemas/system.ts';
import type { ThreadState } from '../schemas/thread-state.ts';
import type { Attempt, AttemptContext } from './attempt.ts';

/** Fields of every log line about a run. */
export function runFields({ claimed, kwargs }: Pick<Attempt, 'claimed' | 'kwargs'>): LogFields {
  const { run_id, thread_id, attempt } = claimed.lease;
  const { assistant_id } = claimed.run;
  const trace_id = traceIdOf(run_id, kwargs.config.configurable);
  return { run_id, thread_id, assistant_id, graph: graphIdOf(kwargs), attempt, trace_id };
}

/** Logs the end of a run. `state`: of its thread; it names the nodes that failed. */
export function logEnd(
  { logger, clock }: AttemptContext,
  attempt: Attempt,
  status: RunStatus,
  state: ThreadState | undefined,
): void {
  const { ms, queue_ms } = runStats(attempt, status, clock.now());
  const fields = { ...runFields(attempt), node: failedNodes(state), ms, queue_ms };
  if (status === 'error') {
    const error = failureForLog(attempt.failure);
    logger.error('run failed', { ...fields, error });
    attempt.log.keep('error', `run failed: ${errorStack(error)}`, clock.now());
  } else logger.info('run ended', { status, ...fields });
}

export function runStats(attempt: Attempt, status: RunStatus, now: number): EndedRun {
  const { kwargs, started, stop } = attempt;
  return {
    graph_id: graphIdOf(kwargs),
    status,
    ms: Math.max(0, now - started),
    stopped_by: stop?.label,
    queue_ms: isFirst(attempt) ? firstWait(attempt) : undefined,
  };
}

/** Time from when a run was due to its first attempt, ms. */
export function firstWait({ claimed, started }: Attempt): number {
  return Math.max(0, started - dueAt(claimed.run));
}

/** A run that was requeued at a shutdown keeps its attempt number. */
export function isFirst({ claimed }: Pick<Attempt, 'claimed'>): boolean {
  return claimed.lease.attempt === 1 && claimed.last_seq === 0 && !claimed.has_checkpoint;
}

/** When the run was allowed to begin, epoch ms. */
export function dueAt({ created_at, kwargs }: Pick<Run, 'created_at' | 'kwargs'>): number {
  return Date.parse(created_at) + 1000 * (Number(kwargs.config.configurable['__after_seconds__']) || 0);
}

function failedNodes(state: ThreadState | undefined): string | undefined {
  const names = state?.tasks.filter(({ error }) => error != null).map(({ name }) => name) ?? [];
  return names.length > 0 ? [...new Set(names)].join(', ') : undefined;
}

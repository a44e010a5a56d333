import { failureForLog } from '../core/failure.ts';
import type { LogFields } from '../core/logger.ts';
import type { RunStatus } from '../schemas/runs.ts';
import type { EndedRun } from '../schemas/system.ts';
import type { ThreadState } from '../schemas/thread-state.ts';
import { graphIdOf } from '../services/runs/run-options.ts';
import type { Attempt, AttemptContext } from './attempt.ts';

/** Fields of every log line about a run. */
export function runFields({ claimed, kwargs }: Pick<Attempt, 'claimed' | 'kwargs'>): LogFields {
  const { run_id, thread_id, attempt } = claimed.lease;
  return { run_id, thread_id, graph: graphIdOf(kwargs), attempt };
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
  if (status === 'error') logger.error('run failed', { ...fields, error: failureForLog(attempt.failure) });
  else logger.info('run ended', { status, ...fields });
}

export function runStats(attempt: Attempt, status: RunStatus, now: number): EndedRun {
  const { claimed, kwargs, started } = attempt;
  const due = Date.parse(claimed.run.created_at) + 1000 * afterSeconds(kwargs);
  return {
    graph_id: graphIdOf(kwargs),
    status,
    ms: Math.max(0, now - started),
    queue_ms: isFirst(attempt) ? Math.max(0, started - due) : undefined,
  };
}

/** A run that was requeued at a shutdown keeps its attempt number. */
function isFirst({ claimed }: Attempt): boolean {
  return claimed.lease.attempt === 1 && claimed.last_seq === 0 && !claimed.has_checkpoint;
}

function afterSeconds({ config }: Attempt['kwargs']): number {
  return Number(config.configurable['__after_seconds__']) || 0;
}

function failedNodes(state: ThreadState | undefined): string | undefined {
  const names = state?.tasks.filter(({ error }) => error != null).map(({ name }) => name) ?? [];
  return names.length > 0 ? [...new Set(names)].join(', ') : undefined;
}

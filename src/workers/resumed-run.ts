import { isEmptyCommand } from '../graphs/runtime/command.ts';
import type { RunKwargs } from '../schemas/runs.ts';
import { type Attempt, type AttemptContext, recordAttempt } from './attempt.ts';

/** Notes which run the attempt resumes. To be called before its graph writes anything at the checkpoint of that run. */
export async function recordResumed(deps: AttemptContext, attempt: Attempt): Promise<void> {
  const { claimed, kwargs } = attempt;
  if (!deps.resumedRun || !resumes(kwargs)) return;
  const { thread_id, run_id } = claimed.lease;
  const { checkpoint_id, checkpoint_ns } = kwargs.config.configurable;
  const found = await deps.resumedRun({
    thread_id,
    run_id,
    ns: typeof checkpoint_ns === 'string' ? checkpoint_ns : '',
    checkpoint_id: typeof checkpoint_id === 'string' ? checkpoint_id : undefined,
  });
  if (found === undefined) return;
  attempt.resumed_from_run_id = found;
  recordAttempt(deps, attempt);
}

/** It answers an interrupt, or goes on without an input. */
function resumes({ input, command }: RunKwargs): boolean {
  if (command === null || isEmptyCommand(command)) return input === null;
  return (command.resume ?? null) !== null;
}

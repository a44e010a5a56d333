import type { CancelAction } from '../schemas/runs.ts';
import type { RunError } from '../schemas/threads.ts';

const CLASS: Record<CancelAction, string> = { interrupt: 'UserInterrupt', rollback: 'UserRollback' };

/** The reason that a cancelled run leaves on its thread; the braces are literal (CONTRACT §3). */
export function requestedBy(action: CancelAction): RunError {
  return {
    error: CLASS[action],
    message: `${action} requested via POST /threads/{thread_id}/runs/{run_id}/cancel`,
  };
}

/** The reason when `on_disconnect: cancel` was asked for and the client has gone. */
export const DISCONNECTED: RunError = {
  error: CLASS.interrupt,
  message: 'client disconnected from the run stream (on_disconnect=cancel)',
};

/** True for the end that somebody asked for: a waiting client gets the values so far, not an error (CONTRACT §3). */
export function isCancel(error: RunError): boolean {
  return error.error === CLASS.interrupt || error.error === CLASS.rollback;
}

import type { CancelAction } from '../schemas/runs.ts';
import type { RunError } from '../schemas/threads.ts';
import type { Cancellation } from '../storage/queue/cancel.ts';

const CLASS: Record<CancelAction, string> = { interrupt: 'UserInterrupt', rollback: 'UserRollback' };

/** What a cancelled run leaves behind; how long its log is kept is not the canceller's business. */
export type Cancel = Omit<Cancellation, 'keep_log_ms'>;

/**
 * A cancel that a client asked for at `route`, with the reason that it leaves on the thread; the braces of a route are
 * literal (CONTRACT §3). `taken` shows in the run's `cancel_reason` alone.
 */
export function requestedBy(action: CancelAction, route: string, reason?: 'taken'): Cancel {
  const message = `${action} requested via ${route}`;
  return {
    action,
    error: { error: CLASS[action], message },
    ...(reason && { reason: `${reason}: ${message}` }),
  };
}

/** When `on_disconnect: cancel` was asked for and the client has gone. */
export const DISCONNECTED: Cancel = {
  action: 'interrupt',
  error: {
    error: CLASS.interrupt,
    message: 'client disconnected from the run stream (on_disconnect=cancel)',
  },
};

/** True for the end that somebody asked for: a waiting client gets the values so far, not an error (CONTRACT §3). */
export function isCancel(error: RunError): boolean {
  return error.error === CLASS.interrupt || error.error === CLASS.rollback;
}

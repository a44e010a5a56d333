import type { RunStatus } from '../../schemas/runs.ts';
import type { ThreadState } from '../../schemas/thread-state.ts';
import type { Interrupt, ThreadStatus } from '../../schemas/threads.ts';

/** What a run may become from each status (CONTRACT §3). `running` goes back to `pending` when its worker is gone. */
export const NEXT_STATUS: Readonly<Record<RunStatus, readonly RunStatus[]>> = {
  pending: ['running', 'interrupted'],
  running: ['success', 'error', 'timeout', 'interrupted', 'pending'],
  success: [],
  error: [],
  timeout: [],
  interrupted: [],
};

export function isFinal(status: RunStatus): boolean {
  return NEXT_STATUS[status].length === 0;
}

/** A thread after a run, when no other run is in flight: error first, then whether its graph waits for an answer. */
export function threadStatusAfter(
  status: RunStatus,
  state: ThreadState | undefined,
): Exclude<ThreadStatus, 'busy'> {
  if (status === 'error' || status === 'timeout') return 'error';
  return (state?.next.length ?? 0) > 0 ? 'interrupted' : 'idle';
}

/** Task id → what it asks; only tasks that wait (CONTRACT §2.2). */
export function interruptsOf(state: ThreadState | undefined): Record<string, Interrupt[]> {
  const waiting = (state?.tasks ?? []).filter((task) => task.interrupts.length > 0);
  return Object.fromEntries(waiting.map((task) => [task.id, task.interrupts]));
}

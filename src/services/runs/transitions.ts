import type { RunStatus } from '../../schemas/runs.ts';
import type { ThreadState } from '../../schemas/thread-state.ts';
import type { Interrupt, Thread, ThreadStatus } from '../../schemas/threads.ts';
import type { ThreadRetention } from '../../storage/runs/markers.ts';

/** Status transitions of a run (contract §3). `running` returns to `pending` if its worker is lost. */
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

/**
 * Thread status after a run, if no other run is in flight: `error` first, then whether the graph is interrupted. A task
 * that asks a second time is missing in `next`: LangGraph takes the stored answer to its first question for a result.
 */
export function threadStatusAfter(
  status: RunStatus,
  state: ThreadState | undefined,
): Exclude<ThreadStatus, 'busy'> {
  if (status === 'error' || status === 'timeout') return 'error';
  const waits = state?.tasks.some((task) => task.interrupts.length > 0) ?? false;
  return waits || (state?.next.length ?? 0) > 0 ? 'interrupted' : 'idle';
}

/** Pending interrupts by task id (contract §2.2). */
export function interruptsOf(state: ThreadState | undefined): Record<string, Interrupt[]> {
  const waiting = (state?.tasks ?? []).filter((task) => task.interrupts.length > 0);
  return Object.fromEntries(waiting.map((task) => [task.id, task.interrupts]));
}

/** Their ids; code that throws its interrupt by itself gives it none. */
export function interruptIds(interrupts: Thread['interrupts']): (string | null | undefined)[] {
  return Object.values(interrupts ?? {}).flatMap((each) => each.map(({ id }) => id));
}

/** Whether the end of a run that made its thread deletes it. `status`: that of the thread. */
export function removesThread(retention: ThreadRetention, status: ThreadStatus): boolean {
  switch (retention) {
    case 'keep':
      return false;
    case 'keep_interrupted':
      return status !== 'interrupted';
    case 'delete':
      return true;
  }
}

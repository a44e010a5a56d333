import { logUpdated } from '../events/bus.ts';
import type { AttemptEndResult } from '../storage/queue/end-attempt.ts';
import type { AttemptContext } from './attempt.ts';

/**
 * After an attempt that could not end its run: the run waits for the next one, or has ended instead. Then its thread gets
 * the state that it left, before followers read of the end.
 */
export async function announceReleased(
  { bus, storeStateAfterRun }: Pick<AttemptContext, 'bus' | 'storeStateAfterRun'>,
  { run_id, thread_id }: { readonly run_id: string; readonly thread_id: string },
  { outcome, promoted, announces_end }: AttemptEndResult,
): Promise<void> {
  if (promoted) bus.emit('run.ready');
  // After a delay, the loop of due runs wakes the worker.
  else if (outcome === 'ready') bus.emit('schedule.changed');
  if (outcome === 'ended') {
    bus.emit('delivery.queued');
    await storeStateAfterRun?.({ run_id, thread_id });
  }
  logUpdated(bus, { run_id, thread_id });
  bus.emit('row.changed', 'run', run_id);
  bus.emit('row.changed', 'thread', thread_id);
  if (announces_end) bus.emit('run.ended', run_id);
}

import type { Actor } from '../../auth/actor.ts';
import { authorize } from '../../auth/authorize.ts';
import type { EventBus } from '../../events/bus.ts';
import type { RunQueue } from '../../storage/queue/queue.ts';
import type { RunRepository } from '../../storage/runs/runs.ts';
import type { ThreadRepository } from '../../storage/threads/threads.ts';

export interface DeleteRunsDeps {
  readonly runs: RunRepository;
  readonly threads: ThreadRepository;
  readonly queue: RunQueue;
  readonly bus: EventBus;
  /** Recomputes a thread's status from its newest checkpoint after a run was deleted. */
  readonly refreshStatus: (thread_id: string) => Promise<void>;
}

/** Runs deleted per query; one assistant may have very many. */
const BATCH = 100;

/** Deletes the runs of a deleted assistant and cancels those in flight (CONTRACT §2.1). */
export function assistantRunDeletion({ runs, threads, queue, bus, refreshStatus }: DeleteRunsDeps) {
  async function deleteRun(thread_id: string, run_id: string): Promise<void> {
    const { was_in_flight } = await queue.deleteRun(thread_id, run_id, 'keep checkpoints');
    if (was_in_flight) await refreshStatus(thread_id);
  }

  return {
    async deleteOf(
      actor: Actor,
      assistant_id: string,
      { delete_threads }: { delete_threads: boolean },
    ): Promise<void> {
      const visibility = delete_threads ? await authorize(actor, 'threads:delete', {}) : undefined;
      for (;;) {
        const batch = await runs.findByAssistant(assistant_id, BATCH);
        for (const { run_id, thread_id } of batch) {
          // If the actor may not delete the thread, delete only the run.
          const gone = delete_threads && (await threads.delete(thread_id, visibility));
          if (!gone) await deleteRun(thread_id, run_id);
          bus.emit('run.cancelled', run_id);
          bus.updated(run_id);
          bus.emit('row.changed', 'run', run_id);
          bus.emit('row.changed', 'thread', thread_id);
          if (gone) await threads.deleteRest(thread_id);
        }
        bus.emit('run.ready');
        if (batch.length < BATCH) return;
      }
    },
  };
}

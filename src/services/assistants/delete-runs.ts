import type { Actor } from '../../auth/actor.ts';
import { authorize } from '../../auth/authorize.ts';
import { isTemporary } from '../../core/failure-class.ts';
import type { EventBus } from '../../events/bus.ts';
import type { Run } from '../../schemas/runs.ts';
import type { Visibility } from '../../storage/access/visibility.ts';
import type { RunQueue } from '../../storage/queue/queue.ts';
import type { RunRepository } from '../../storage/runs/runs.ts';
import type { ThreadRepository } from '../../storage/threads/threads.ts';

export interface DeleteRunsDeps {
  readonly runs: RunRepository;
  readonly threads: ThreadRepository;
  readonly queue: RunQueue;
  readonly bus: EventBus;
  /** Stores a thread's newest checkpoint as its state: a deleted run in flight leaves its checkpoints. */
  readonly refreshState: (thread_id: string) => Promise<void>;
}

/** Runs deleted per query; one assistant may have very many. */
const BATCH = 100;

/** Deletes the runs of a deleted assistant and cancels those in flight (contract §2.1). */
export function assistantRunDeletion({ runs, threads, queue, bus, refreshState }: DeleteRunsDeps) {
  async function deleteRun(thread_id: string, run_id: string): Promise<void> {
    const { was_in_flight } = await queue.deleteRun(thread_id, run_id, 'keep checkpoints');
    if (was_in_flight) await refreshState(thread_id);
  }

  async function deleteOne(
    { run_id, thread_id }: Pick<Run, 'run_id' | 'thread_id'>,
    delete_threads: boolean,
    visibility: Visibility | undefined,
  ): Promise<void> {
    // If the actor may not delete the thread, delete only the run.
    const gone = delete_threads && (await threads.delete(thread_id, visibility));
    if (!gone) await deleteRun(thread_id, run_id);
    bus.emit('run.cancelled', run_id);
    bus.updated(run_id);
    bus.emit('row.changed', 'run', run_id);
    bus.emit('row.changed', 'thread', thread_id);
    if (gone) await threads.deleteRest(thread_id);
  }

  return {
    /**
     * Authorizes before the assistant is deleted; the returned function deletes its runs. A run that cannot be
     * deleted does not stop the others: the first failure is thrown at the end, a temporary one of storage at once.
     */
    async authorizeDeletion(
      actor: Actor,
      { delete_threads }: { delete_threads: boolean },
    ): Promise<(assistant_id: string) => Promise<void>> {
      const visibility = delete_threads ? await authorize(actor, 'threads:delete', {}) : undefined;
      return async (assistant_id) => {
        const failures = new Map<string, unknown>();
        for (;;) {
          const found = await runs.findByAssistant(assistant_id, BATCH + failures.size);
          const batch = found.filter(({ run_id }) => !failures.has(run_id));
          for (const run of batch) {
            await deleteOne(run, delete_threads, visibility).catch((error: unknown) => {
              if (isTemporary(error)) throw error;
              failures.set(run.run_id, error);
            });
          }
          bus.emit('run.ready');
          if (batch.length < BATCH) break;
        }
        for (const failure of failures.values()) throw failure;
      };
    },
  };
}

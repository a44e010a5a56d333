import type { Actor } from '../../auth/actor.ts';
import { authorize } from '../../auth/authorize.ts';
import { type Clock, timestamp } from '../../core/clock.ts';
import { Conflict, NotFound } from '../../core/errors.ts';
import type { Ids } from '../../core/ids.ts';
import type { EventBus } from '../../events/bus.ts';
import type { Thread, ThreadPrune, ThreadStorage, ThreadsPruned } from '../../schemas/threads.ts';
import type { Visibility } from '../../storage/access/visibility.ts';
import type { Ttl } from '../../storage/threads/row.ts';
import type { ThreadRepository } from '../../storage/threads/threads.ts';

export interface ThreadMaintenanceDeps {
  readonly threads: ThreadRepository;
  readonly bus: EventBus;
  readonly clock: Clock;
  readonly ids: Ids;
  /** Notifies the workers that these runs are deleted. */
  readonly notifyCancelled: (run_ids: string[]) => void;
  /** TTL of threads created without one; `undefined` means no expiry. */
  readonly default_ttl: Ttl | undefined;
}

/** Whole threads: delete, prune, measure, copy (contract §2.2). */
export function threadMaintenance({
  threads,
  bus,
  clock,
  ids,
  notifyCancelled,
  default_ttl,
}: ThreadMaintenanceDeps) {
  async function remove(thread_id: string, visibility: Visibility | undefined): Promise<boolean> {
    const stopped = await threads.delete(thread_id, visibility);
    if (!stopped) return false;
    notifyCancelled(stopped);
    bus.emit('row.changed', 'thread', thread_id);
    await threads.deleteRest(thread_id);
    return true;
  }

  return {
    /** Cascades to its runs, events and checkpoints; cancels runs in flight. */
    async delete(actor: Actor, thread_id: string): Promise<void> {
      const visibility = await authorize(actor, 'threads:delete', { thread_id });
      if (!(await remove(thread_id, visibility))) throw threadNotFound(thread_id);
    },

    /**
     * Deletes threads, or prunes history that is not needed to resume. Does nothing if any thread is missing. Threads
     * with a run in flight keep their history and are not counted.
     */
    async prune(actor: Actor, { thread_ids, strategy }: ThreadPrune): Promise<ThreadsPruned> {
      const visibility = await authorize(actor, 'threads:delete', { thread_ids, strategy });
      const ids = [...new Set(thread_ids)];
      if ((await threads.countByIds(ids, visibility)) < ids.length) {
        throw new NotFound('At least one thread not found or not authorized');
      }
      let pruned_count = 0;
      for (const thread_id of ids) {
        const pruned =
          strategy === 'delete' ? await remove(thread_id, visibility) : await threads.prune(thread_id);
        if (pruned) pruned_count += 1;
      }
      return { pruned_count };
    },

    /** Storage size of a thread's history. */
    async storage(actor: Actor, thread_id: string): Promise<ThreadStorage> {
      const visibility = await authorize(actor, 'threads:read', { thread_id });
      if (!(await threads.get(thread_id, ['thread_id'], visibility))) throw threadNotFound(thread_id);
      return threads.size(thread_id);
    },

    /** A new thread with the state and full history of another, without its runs. */
    async copy(actor: Actor, thread_id: string): Promise<Thread> {
      const visibility = await authorize(actor, 'threads:read', { thread_id });
      const target_id = ids.uuid4();
      const value = { thread_id: target_id, metadata: {} };
      await authorize(actor, 'threads:create', value);
      const copy = await threads.copy({
        source_id: thread_id,
        target_id,
        at: timestamp(clock.now()),
        ttl: default_ttl,
        metadata: value.metadata,
        visibility,
      });
      if (!copy) throw new Conflict('Conflict');
      bus.emit('row.changed', 'thread', target_id);
      return copy;
    },
  };
}

function threadNotFound(thread_id: string): NotFound {
  return new NotFound(`Thread with ID ${thread_id} not found`);
}

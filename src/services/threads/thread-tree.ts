import type { Actor } from '../../auth/actor.ts';
import { authorize } from '../../auth/authorize.ts';
import { NotFound } from '../../core/errors.ts';
import type { CheckpointNode, ThreadTreeQuery } from '../../schemas/thread-tree.ts';
import type { CheckpointRepository } from '../../storage/checkpoints/checkpoints.ts';
import type { ThreadRepository } from '../../storage/threads/threads.ts';
import { type CursorPage, cursorOf, positionOf } from '../pagination.ts';

export type ThreadTreeService = ReturnType<typeof threadTreeService>;

/** Name of the list in its cursors. */
const LIST = 'tree';

/** The shape of a thread's history, without its values. */
export function threadTreeService(threads: ThreadRepository, checkpoints: CheckpointRepository) {
  return {
    /** Newest first. Throws `NotFound` for a missing thread, `InvalidInput` for a foreign cursor. */
    async list(
      actor: Actor,
      thread_id: string,
      { limit, cursor, subgraphs }: ThreadTreeQuery,
    ): Promise<CursorPage<CheckpointNode>> {
      const after = cursor === undefined ? undefined : keyOf(cursor);
      const visibility = await authorize(actor, 'threads:read', { thread_id });
      const thread = await threads.get(thread_id, ['thread_id'], visibility);
      if (!thread) throw new NotFound(`Thread with ID ${thread_id} not found`);
      // One more row signals a next page.
      const found = await checkpoints.tree({ thread_id, subgraphs, after, limit: limit + 1 });
      const items = found.slice(0, limit);
      const last = found.length > limit ? items.at(-1) : undefined;
      return { items, next: last && cursorOf(LIST, [last.checkpoint_id, last.checkpoint_ns]) };
    },
  };
}

function keyOf(cursor: string): { checkpoint_id: string; ns: string } {
  const [checkpoint_id, ns] = positionOf(LIST, cursor, (position) => position.length === 2) as [
    string,
    string,
  ];
  return { checkpoint_id, ns };
}

import type { Actor } from '../../auth/actor.ts';
import { authorize } from '../../auth/authorize.ts';
import { NotFound } from '../../core/errors.ts';
import type { ThreadRepository } from '../../storage/threads/threads.ts';

/** Whether the subscriber may see the thread now. */
export type CheckAccess = () => Promise<'visible' | 'hidden' | 'missing'>;

/**
 * Authorizes a subscriber; resolves to the check for the first event of each run, `undefined` if it sees every
 * thread. Throws `NotFound` if the thread is hidden. A client may subscribe before the thread exists (contract
 * §7), and another user may then create it; the same holds for an id that is reused after a deletion.
 */
export async function authorizeSubscriber(
  threads: ThreadRepository,
  actor: Actor,
  thread_id: string,
): Promise<CheckAccess | undefined> {
  const visibility = await authorize(actor, 'threads:read', { thread_id });
  if (!visibility) return undefined;
  const check = () => threads.checkVisibility(thread_id, visibility);
  if ((await check()) === 'hidden') throw new NotFound(`Thread with ID ${thread_id} not found`);
  return check;
}

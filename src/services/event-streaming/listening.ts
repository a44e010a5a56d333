import type { Actor } from '../../auth/actor.ts';
import { authorize } from '../../auth/authorize.ts';
import { NotFound } from '../../core/errors.ts';
import type { ThreadRepository } from '../../storage/threads/threads.ts';
import type { ProtocolEvent } from './events.ts';
import type { EventSink } from './subscriber.ts';

/** Puts a check before a sink where one is needed. `refused` is called when nothing may be sent after all. */
export type GuardSink = (sink: EventSink, refused: () => void) => EventSink;

/**
 * Whether the actor may hear of a thread. Throws `NotFound` for one that is not visible. A client may listen before
 * the thread is made (CONTRACT §7), and then it may turn out to be somebody else's: the guard looks once more before
 * the first event goes out.
 */
export async function allowListening(
  threads: Pick<ThreadRepository, 'standing'>,
  actor: Actor,
  thread_id: string,
): Promise<GuardSink> {
  const visibility = await authorize(actor, 'threads:read', { thread_id });
  if (!visibility) return (sink) => sink;
  const standing = await threads.standing(thread_id, visibility);
  if (standing === 'hidden') throw new NotFound(`Thread with ID ${thread_id} not found`);
  if (standing === 'visible') return (sink) => sink;
  const isVisible = async () => (await threads.standing(thread_id, visibility)) === 'visible';
  return (sink, refused) => guarded(sink, isVisible, refused);
}

/** Holds events back until it is known whether they may be sent. */
function guarded(sink: EventSink, isVisible: () => Promise<boolean>, refused: () => void): EventSink {
  let held: ProtocolEvent[] | undefined;
  let isOpen = false;

  async function decide(): Promise<void> {
    isOpen = await isVisible().catch(() => false);
    if (!isOpen) return refused();
    for (const event of held ?? []) sink.send(event);
  }

  return {
    send(event) {
      if (isOpen) return sink.send(event);
      if (held) return void held.push(event);
      held = [event];
      void decide();
    },
    isFull: () => sink.isFull() || (!isOpen && (held?.length ?? 0) > MOST_HELD),
    drained: (signal) => sink.drained(signal),
  };
}

/** The look takes one query; what comes meanwhile is little. */
const MOST_HELD = 1000;

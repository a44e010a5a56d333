import type { Actor } from '../../auth/actor.ts';
import { authorize } from '../../auth/authorize.ts';
import { NotFound } from '../../core/errors.ts';
import type { ThreadRepository } from '../../storage/threads/threads.ts';
import type { ProtocolEvent } from './protocol-events.ts';
import type { EventSink } from './subscriber.ts';

/** Puts a check before a sink where one is needed. `refused` is called when nothing may be sent after all. */
export type GateSink = (sink: EventSink, denied: () => void) => EventSink;

/**
 * Whether the actor may hear of a thread. Throws `NotFound` for one that is not visible. A client may listen before
 * the thread is made (CONTRACT §7), and then it may turn out to be somebody else's: the guard looks once more before
 * the first event goes out.
 */
export async function authorizeSubscriber(
  threads: Pick<ThreadRepository, 'checkVisibility'>,
  actor: Actor,
  thread_id: string,
): Promise<GateSink> {
  const visibility = await authorize(actor, 'threads:read', { thread_id });
  if (!visibility) return (sink) => sink;
  const access = await threads.checkVisibility(thread_id, visibility);
  if (access === 'hidden') throw new NotFound(`Thread with ID ${thread_id} not found`);
  if (access === 'visible') return (sink) => sink;
  const isVisible = async () => (await threads.checkVisibility(thread_id, visibility)) === 'visible';
  return (sink, denied) => gatedSink(sink, isVisible, denied);
}

/** Holds events back until it is known whether they may be sent. */
function gatedSink(sink: EventSink, isVisible: () => Promise<boolean>, denied: () => void): EventSink {
  let buffered: ProtocolEvent[] | undefined;
  let isOpen = false;

  async function decide(): Promise<void> {
    isOpen = await isVisible().catch(() => false);
    if (!isOpen) return denied();
    for (const event of buffered ?? []) sink.send(event);
  }

  return {
    send(event) {
      if (isOpen) return sink.send(event);
      if (buffered) return void buffered.push(event);
      buffered = [event];
      void decide();
    },
    isFull: () => sink.isFull() || (!isOpen && (buffered?.length ?? 0) > MAX_BUFFERED),
    drained: (signal) => sink.drained(signal),
  };
}

/** The look takes one query; what comes meanwhile is little. */
const MAX_BUFFERED = 1000;

import type { Actor } from '../../auth/actor.ts';
import { authorize } from '../../auth/authorize.ts';
import { NotFound } from '../../core/errors.ts';
import type { ThreadRepository } from '../../storage/threads/threads.ts';
import type { ProtocolEvent } from './protocol-events.ts';
import type { EventSink } from './subscriber.ts';

/** Wraps a sink with an authorization check where one is needed. Calls `denied` if it fails. */
export type GateSink = (sink: EventSink, denied: () => void) => EventSink;

/**
 * Authorizes a subscriber. Throws `NotFound` if the thread is hidden. A client may subscribe before the thread exists
 * (CONTRACT §7), and it may then turn out to be another user's: the gate checks again before the first event.
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

/** Buffers events until the check resolves. */
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

/** The check is one query, so few events arrive meanwhile. */
const MAX_BUFFERED = 1000;

import { yieldToEventLoop } from '../../core/event-loop.ts';
import { sleep } from '../../core/timers.ts';
import {
  followThread,
  lastThreadSeq,
  type ThreadFollowSources,
  ThreadReader,
} from '../../events/follow-thread.ts';
import type { Translate } from './protocol-events.ts';
import type { Subscriber } from './subscriber.ts';

/** Fan-out of one thread's events to the subscribers in this process. */
interface Broadcast {
  readonly thread_id: string;
  /** Sequence number of the last published entry. */
  seq: number;
  readonly listeners: Set<Subscriber>;
  readonly stop: AbortController;
  users: number;
}

export interface BroadcastDeps {
  readonly sources: ThreadFollowSources;
  /** Creates a stateful translator; each reader needs its own. */
  readonly translate: () => Translate;
  readonly onError: (error: unknown) => void;
}

/**
 * Broadcasts by thread. A client correlates events across its connections to a thread, so all of them share one reader,
 * and each event is written to every connection before the next (contract §7 "Traps"). Late or slow subscribers replay
 * from the log at their own pace until they catch up.
 */
export function threadBroadcasts(deps: BroadcastDeps) {
  const { sources, translate, onError } = deps;
  const broadcasts = new Map<string, Promise<Broadcast>>();

  async function open(thread_id: string): Promise<Broadcast> {
    const broadcast: Broadcast = {
      thread_id,
      seq: await lastThreadSeq(sources, thread_id),
      listeners: new Set(),
      stop: new AbortController(),
      users: 0,
    };
    // A failed reader strands its listeners; closing their connections makes the clients reconnect.
    void publish(broadcast).catch((error: unknown) => {
      onError(error);
      broadcast.stop.abort(error);
    });
    return broadcast;
  }

  async function publish(broadcast: Broadcast): Promise<void> {
    const { thread_id, seq, listeners, stop } = broadcast;
    const events = translate();
    for await (const entry of followThread(sources, thread_id, seq, stop.signal)) {
      const translated = await events(entry);
      const asked = new Set<Subscriber>();
      // No await between the last authorization and the offers, so that no listener that joins meanwhile is
      // left out.
      for (let more = authorizeMore(listeners, asked, entry.run_id); more; ) {
        await more;
        more = authorizeMore(listeners, asked, entry.run_id);
      }
      for (const event of translated) for (const listener of listeners) listener.offer(event);
      for (const listener of listeners) listener.advance(entry.seq);
      broadcast.seq = entry.seq;
      // Between entries: a listener that joins now has caught up with the last one.
      await yieldToEventLoop();
    }
  }

  async function listen(broadcast: Broadcast, subscriber: Subscriber, signal: AbortSignal) {
    while (!signal.aborted) {
      await catchUp(deps, broadcast, subscriber, signal);
      if (subscriber.needsReplay) continue;
      // No await between the last read and this line, so that no event is missed.
      broadcast.listeners.add(subscriber);
      subscriber.markCaughtUp();
      await subscriber.untilLagging(signal);
      broadcast.listeners.delete(subscriber);
      if (subscriber.needsReplay) await debounce(signal);
      await subscriber.drained(signal);
    }
  }

  return {
    /** Serves the subscriber until abort. Rejects if the log cannot be read. */
    async serve(thread_id: string, subscriber: Subscriber, signal: AbortSignal): Promise<void> {
      const opening = broadcasts.get(thread_id) ?? open(thread_id);
      broadcasts.set(thread_id, opening);
      const broadcast = await opening.catch((error: unknown) => {
        broadcasts.delete(thread_id);
        throw error;
      });
      // The last listener left while this one was joining.
      if (broadcast.stop.signal.aborted) {
        if (broadcasts.get(thread_id) === opening) broadcasts.delete(thread_id);
        return this.serve(thread_id, subscriber, signal);
      }
      broadcast.users += 1;
      const ended = AbortSignal.any([signal, broadcast.stop.signal]);
      try {
        await listen(broadcast, subscriber, ended);
      } finally {
        broadcast.users -= 1;
        if (broadcast.users === 0 || broadcast.stop.signal.aborted) {
          broadcast.stop.abort();
          if (broadcasts.get(thread_id) === opening) broadcasts.delete(thread_id);
        }
      }
    },
  };
}

/** Authorizes the listeners that were not checked for this run yet; `undefined` if there are none. */
function authorizeMore(
  listeners: ReadonlySet<Subscriber>,
  asked: Set<Subscriber>,
  run_id: string,
): Promise<unknown> | undefined {
  const next = [...listeners].filter((each) => !asked.has(each) && !each.isAuthorizedFor(run_id));
  for (const listener of next) asked.add(listener);
  return next.length > 0 ? Promise.all(next.map((listener) => listener.authorize(run_id))) : undefined;
}

/** Replays missed events to the subscriber until it catches up with the broadcast. */
async function catchUp(
  { sources, translate }: BroadcastDeps,
  broadcast: Broadcast,
  subscriber: Subscriber,
  signal: AbortSignal,
): Promise<void> {
  subscriber.beginReplay();
  const reader = new ThreadReader(sources, broadcast.thread_id, subscriber.lastSeq ?? broadcast.seq);
  const events = translate();
  for (let caughtUp = false; !caughtUp && !signal.aborted; ) {
    const readTo = broadcast.seq;
    const entries = await reader.next();
    for (const entry of entries) {
      const translated = await events(entry);
      await subscriber.authorize(entry.run_id);
      for (const event of translated) subscriber.offer(event);
      subscriber.advance(entry.seq);
      if (subscriber.isFull()) await subscriber.drained(signal);
      await yieldToEventLoop();
      if (signal.aborted || subscriber.needsReplay) return;
    }
    caughtUp = reader.seq >= broadcast.seq || (entries.length === 0 && readTo === broadcast.seq);
  }
}

/**
 * A reconnecting client sends its subscriptions in a burst. Replayed together, their events keep their order; one by
 * one, the end of a run would precede the values that led to it, and clients stop there.
 */
function debounce(signal: AbortSignal): Promise<void> {
  return sleep(DEBOUNCE_MS, signal);
}

const DEBOUNCE_MS = 5;

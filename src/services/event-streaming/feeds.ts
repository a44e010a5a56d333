import { sleep } from '../../core/timers.ts';
import { followThread, ThreadReader, type ThreadSources, threadEnd } from '../../events/follow-thread.ts';
import type { Translate } from './events.ts';
import type { Subscriber } from './subscriber.ts';

export type Feeds = ReturnType<typeof threadFeeds>;

/** What is told now on one thread, to everybody here who listens. */
interface Feed {
  /** The number of the last event that was told. */
  seq: number;
  readonly listeners: Set<Subscriber>;
  readonly stop: AbortController;
  users: number;
}

export interface FeedDeps {
  readonly sources: ThreadSources;
  /** Each reader needs one of its own. */
  readonly translate: () => Translate;
  readonly onError: (error: unknown) => void;
}

/**
 * The threads that are listened to. A client holds several connections to a thread and acts on what one of them says,
 * so all connections of a thread share one reader, and each event is written to every connection before the next
 * (CONTRACT §7 "Traps"). Who comes later, or reads slowly, reads the log at its own pace until it is even again.
 */
export function threadFeeds({ sources, translate, onError }: FeedDeps) {
  const feeds = new Map<string, Promise<Feed>>();

  async function open(thread_id: string): Promise<Feed> {
    const feed: Feed = {
      seq: await threadEnd(sources, thread_id),
      listeners: new Set(),
      stop: new AbortController(),
      users: 0,
    };
    // A reader that failed leaves its listeners behind; closing their connections makes the clients come back.
    void tell(feed, thread_id).catch((error: unknown) => {
      onError(error);
      feed.stop.abort(error);
    });
    return feed;
  }

  async function tell(feed: Feed, thread_id: string): Promise<void> {
    const events = translate();
    for await (const entry of followThread(sources, thread_id, feed.seq, feed.stop.signal)) {
      for (const event of await events(entry)) for (const listener of feed.listeners) listener.offer(event);
      for (const listener of feed.listeners) listener.passed(entry.seq);
      feed.seq = entry.seq;
    }
  }

  /** Gives the subscriber what it has not seen, until it is even with the others. */
  async function catchUp(feed: Feed, thread_id: string, subscriber: Subscriber, signal: AbortSignal) {
    subscriber.goesBack();
    const reader = new ThreadReader(sources, thread_id, subscriber.seen ?? feed.seq);
    const events = translate();
    for (let even = false; !even && !signal.aborted; ) {
      const told = feed.seq;
      const entries = await reader.next();
      for (const entry of entries) {
        for (const event of await events(entry)) subscriber.offer(event);
        subscriber.passed(entry.seq);
        if (subscriber.isFull()) await subscriber.drained(signal);
        if (signal.aborted || subscriber.mustGoBack) return;
      }
      even = reader.seq >= feed.seq || (entries.length === 0 && told === feed.seq);
    }
  }

  async function listen(feed: Feed, thread_id: string, subscriber: Subscriber, signal: AbortSignal) {
    while (!signal.aborted) {
      await catchUp(feed, thread_id, subscriber, signal);
      if (subscriber.mustGoBack) continue;
      // Nothing is awaited between the last look and this, so that no event falls between.
      feed.listeners.add(subscriber);
      subscriber.isEven();
      await subscriber.falls(signal);
      feed.listeners.delete(subscriber);
      if (subscriber.mustGoBack) await breath(signal);
      await subscriber.drained(signal);
    }
  }

  return {
    /** Keeps the subscriber supplied until abort. Rejects when the log cannot be read. */
    async serve(thread_id: string, subscriber: Subscriber, signal: AbortSignal): Promise<void> {
      const opening = feeds.get(thread_id) ?? open(thread_id);
      feeds.set(thread_id, opening);
      const feed = await opening.catch((error: unknown) => {
        feeds.delete(thread_id);
        throw error;
      });
      // Its last listener left while this one came.
      if (feed.stop.signal.aborted) {
        if (feeds.get(thread_id) === opening) feeds.delete(thread_id);
        return this.serve(thread_id, subscriber, signal);
      }
      feed.users += 1;
      const ended = AbortSignal.any([signal, feed.stop.signal]);
      try {
        await listen(feed, thread_id, subscriber, ended);
      } finally {
        feed.users -= 1;
        if (feed.users === 0 || feed.stop.signal.aborted) {
          feed.stop.abort();
          if (feeds.get(thread_id) === opening) feeds.delete(thread_id);
        }
      }
    },
  };
}

/**
 * A client that comes back says in one breath what it wants to hear. Replayed together, its events keep their order;
 * one after the other, the end of a run would come before the values that led to it, and clients stop there.
 */
function breath(signal: AbortSignal): Promise<void> {
  return sleep(BREATH_MS, signal);
}

const BREATH_MS = 5;

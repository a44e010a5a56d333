import { immediate } from '../core/event-loop.ts';
import type { RunEventRepository } from '../storage/runs/events.ts';
import type { ThreadLogRepository } from '../storage/runs/thread-log.ts';

/** Reads each page of a run's log once for all followers that ask for it in the same turn of the event loop. */
export function sharedLog(log: RunEventRepository): RunEventRepository {
  return { ...log, readAfter: shared(log.readAfter) };
}

/** Looks up the next run of a thread once for all its followers that ask in the same turn of the event loop. */
export function sharedThreadLog(threadLog: ThreadLogRepository): ThreadLogRepository {
  return { ...threadLog, entryAfter: shared(threadLog.entryAfter) };
}

/**
 * A notification wakes all followers of a log at once, and most of them are at the same place. The read begins after the
 * last of them asked, so that no follower gets a result from before its notification.
 */
function shared<Args extends readonly (string | number)[], Result>(
  read: (...args: Args) => Promise<Result>,
): (...args: Args) => Promise<Result> {
  const asked = new Map<string, Promise<Result>>();
  return (...args) => {
    const question = args.join(' ');
    const begin = async (): Promise<Result> => {
      await immediate();
      asked.delete(question);
      return read(...args);
    };
    const reading = asked.get(question) ?? begin();
    asked.set(question, reading);
    return reading;
  };
}

import { immediate } from '../core/event-loop.ts';
import type { Page, RunEventRepository } from '../storage/runs/events.ts';

/**
 * Reads each page of a log once for all followers that ask for it in the same turn of the event loop: a hint wakes
 * all followers of a run at once, and most of them are at the same place. The read begins after the last of them asked,
 * so that no follower gets a page from before its hint.
 */
export function sharedLog(log: RunEventRepository): RunEventRepository {
  const asked = new Map<string, Promise<Page>>();
  return {
    ...log,
    readAfter(run_id, seq, limit) {
      const page = `${run_id} ${seq} ${limit}`;
      const begin = async (): Promise<Page> => {
        await immediate();
        asked.delete(page);
        return log.readAfter(run_id, seq, limit);
      };
      const read = asked.get(page) ?? begin();
      asked.set(page, read);
      return read;
    },
  };
}

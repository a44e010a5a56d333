import type { Storage } from '../storage/storage.ts';
import type { EventBus } from './bus.ts';
import type { FollowSources } from './follow.ts';
import type { ThreadFollowSources } from './follow-thread.ts';
import { SafetyPoll } from './safety-poll.ts';
import { sharedLog, sharedThreadLog } from './shared-log.ts';
import type { LiveRuns } from './writer.ts';

interface FollowSourcesDeps {
  readonly storage: Pick<Storage, 'events' | 'threadLog' | 'logEnds'>;
  readonly live: LiveRuns;
  readonly bus: EventBus;
}

/** What all followers of runs and threads in a process read from. */
export function followSources({
  storage,
  live,
  bus,
}: FollowSourcesDeps): FollowSources & ThreadFollowSources {
  return {
    live,
    log: sharedLog(storage.events),
    unsharedLog: storage.events,
    threadLog: sharedThreadLog(storage.threadLog),
    bus,
    poll: new SafetyPoll(storage.logEnds, live, bus),
  };
}

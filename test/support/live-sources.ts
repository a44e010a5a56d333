import type { Db } from '../../src/db/db.ts';
import { memoryBus } from '../../src/events/bus.ts';
import { SafetyPoll } from '../../src/events/safety-poll.ts';
import { LiveRuns } from '../../src/events/writer.ts';
import { type LogEnds, logEnds } from '../../src/storage/runs/log-positions.ts';

/** The runs of a process that executes none yet, and what looks for those who follow others. */
export function liveSources(db: Db, ends: LogEnds = logEnds(db)) {
  const live = new LiveRuns();
  return { live, poll: new SafetyPoll(ends, live, memoryBus()) };
}

import { yieldToEventLoop } from '../core/event-loop.ts';
import { Latch } from '../core/latch.ts';
import type { Frame, RunEventRepository } from '../storage/runs/events.ts';
import type { EventBus } from './bus.ts';
import { isEnd, lostEvents } from './frame.ts';
import type { SafetyPoll } from './safety-poll.ts';
import type { LiveRuns } from './writer.ts';

/** Frames read from the log at once. */
export const PAGE = 500;

export interface FollowSources {
  readonly live: LiveRuns;
  readonly log: RunEventRepository;
  readonly bus: EventBus;
  /** Looks for all followers of this process. */
  readonly poll: Pick<SafetyPoll, 'wait'>;
}

/**
 * Yields each frame after `seq` once and in order, and returns at the end of the run's log or on abort.
 * A frame is delivered only when it is the next one: two sources that race must not make a gap (invariant 3). What an
 * ended run's log lacks is reported by an error in its place.
 */
export async function* follow(
  sources: FollowSources,
  run_id: string,
  seq: number,
  signal: AbortSignal,
): AsyncGenerator<Frame, void, void> {
  const changed = new Latch();
  // Before the first read, or a frame written in between would wait for the safety poll.
  using _subscription = sources.bus.onUpdated(run_id, () => changed.open());
  while (!signal.aborted) {
    const frames = sources.live.get(run_id)?.after(seq) ?? (await sources.log.readAfter(run_id, seq, PAGE));
    let delivered = 0;
    for (const frame of frames) {
      if (frame.seq !== seq + 1) break;
      if (isEnd(frame)) return;
      // Frames may be large, and who reads them may never pause.
      await yieldToEventLoop();
      yield frame;
      if (signal.aborted) return;
      seq = frame.seq;
      delivered++;
    }
    if (delivered > 0) continue;
    if (await sources.poll.wait({ of: 'run', id: run_id, seq }, changed, signal)) continue;
    // Read after that, and not before: a run leaves the queue in the transaction that completes its log.
    const [next] = await sources.log.readAfter(run_id, seq, 1);
    if (!next) return;
    if (next.seq === seq + 1) continue;
    const last = next.seq - 1;
    yield lostEvents(last, { first: seq + 1, last, of: 'run' });
    seq = last;
  }
}

import { untilNextTurn, yieldToEventLoop } from '../core/event-loop.ts';
import { Latch } from '../core/latch.ts';
import { type Frame, isEnd, type RunEventRepository } from '../storage/runs/events.ts';
import type { EventBus } from './bus.ts';
import { lostEvents } from './frame.ts';
import type { SafetyPoll } from './safety-poll.ts';
import type { LiveRun, LiveRuns } from './writer.ts';

/** Frames per read of the log. */
export const PAGE = 500;

export interface FollowSources {
  readonly live: LiveRuns;
  readonly log: RunEventRepository;
  /** The log without shared reads: the first read of a follower is prompted by no notification, which others have too. */
  readonly unsharedLog: RunEventRepository;
  readonly bus: EventBus;
  /** Shared by all followers of this process. */
  readonly poll: Pick<SafetyPoll, 'wait'>;
}

/** What a follower has received of an attempt that has ended: up to where, while the log agrees. */
interface Delivered {
  readonly by: LiveRun;
  readonly to: number;
}

function isDelivered({ by, to }: Delivered, frame: Frame): boolean {
  return frame.seq <= to && by.has(frame);
}

/**
 * Yields each frame after `seq` exactly once and in order; returns at the end of the run's log or on abort. Only the
 * next frame is delivered: a race between memory and log must not leave a gap (invariant 3). A gap in the log of an
 * ended run is reported as an error frame. If an attempt of a run that is not resumable ends without having logged all
 * that it has published, the next one uses those numbers again.
 */
export async function* follow(
  sources: FollowSources,
  run_id: string,
  seq: number,
  signal: AbortSignal,
): AsyncGenerator<Frame, void, void> {
  const changed = new Latch();
  // Subscribe before the first read: a frame written in between would wait for the safety poll.
  using _subscription = sources.bus.onUpdated(run_id, () => changed.open());
  let live: LiveRun | undefined;
  let earlier: Delivered | undefined;
  let log: FollowSources['unsharedLog'] = sources.unsharedLog;
  let isFirst = true;
  while (!signal.aborted) {
    const before = live;
    // It is closed when the run has ended, maybe before its last frames were read here.
    live = sources.live.get(run_id) ?? (before?.isWhole ? before : undefined);
    if (before && before !== live && !before.logged) {
      earlier = { by: before, to: seq };
      seq = Math.min(seq, before.certain);
    }
    const buffered = live?.after(seq);
    const page = buffered ? undefined : await log.readAfter(run_id, seq, PAGE);
    log = sources.log;
    const frames = buffered ?? page?.frames ?? [];
    let delivered = 0;
    for (const frame of frames) {
      if (frame.seq !== seq + 1) break;
      if (isEnd(frame)) return;
      seq = frame.seq;
      delivered++;
      earlier = earlier && isDelivered(earlier, frame) ? earlier : undefined;
      if (earlier) continue;
      // Frames may be large, and a fast reader may never yield.
      const turn = yieldToEventLoop();
      if (turn !== undefined) await turn;
      isFirst = false;
      yield frame;
      if (signal.aborted) return;
    }
    // What came after a read from the log has opened the latch since: reading again would find nothing.
    const isAllRead = live === undefined && page?.isLast && delivered === frames.length;
    if (delivered > 0 && !isAllRead) continue;
    if (await sources.poll.wait({ of: 'run', id: run_id, seq }, changed, signal)) {
      // What the run emits in this turn is delivered together: waiting anew costs more than an event. Not the first one:
      // a graph that starts may occupy the loop for milliseconds.
      if (!isFirst) await untilNextTurn();
      continue;
    }
    // Read the log only now: a run leaves the queue in the transaction that completes its log.
    const {
      frames: [next],
    } = await sources.log.readAfter(run_id, seq, 1);
    if (!next) return;
    if (next.seq === seq + 1) continue;
    const last = next.seq - 1;
    yield lostEvents(last, { first: seq + 1, last, of: 'run' });
    seq = last;
  }
}

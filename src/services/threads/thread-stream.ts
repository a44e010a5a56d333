import type { Actor } from '../../auth/actor.ts';
import { authorize } from '../../auth/authorize.ts';
import { NotFound } from '../../core/errors.ts';
import {
  followThread,
  lastThreadSeq,
  type ThreadFollowSources,
  type ThreadFrame,
} from '../../events/follow-thread.ts';
import type { Frame } from '../../events/frame.ts';
import type { ThreadStreamMode } from '../../schemas/thread-stream.ts';
import { isEnd } from '../../storage/runs/events.ts';
import type { ThreadRepository } from '../../storage/threads/threads.ts';
import { plainFrame } from '../runs/run-streams.ts';
import { STATE_UPDATE } from './thread-state.ts';

export interface ThreadStreamOptions {
  readonly modes: readonly ThreadStreamMode[];
  /** Sequence number of the last event the client has seen (0: replay all stored), or `now` for live events only. */
  readonly after: number | 'now';
}

export type ThreadStreamService = ReturnType<typeof threadStreamService>;

/** Event stream of a thread across its runs (contract §5 "Thread stream"). */
export function threadStreamService(threads: ThreadRepository, sources: ThreadFollowSources) {
  return {
    /**
     * Follows until abort, or until the id belongs to a thread that the caller may not see; frames carry the thread
     * log's numbers. Throws `NotFound` before the first frame.
     */
    async follow(
      actor: Actor,
      thread_id: string,
      { modes, after }: ThreadStreamOptions,
      signal: AbortSignal,
    ): Promise<AsyncIterable<Frame>> {
      const visibility = await authorize(actor, 'threads:read', { thread_id });
      if (!(await threads.get(thread_id, ['thread_id'], visibility))) {
        throw new NotFound(`Thread with ID ${thread_id} not found`);
      }
      // Read before the response begins, so that no event after it is missed.
      const end = await lastThreadSeq(sources, thread_id);
      const from = after === 'now' ? end : Math.min(after, end);
      const entries = followThread(sources, thread_id, from, signal);
      if (!visibility) return filterModes(entries, modes);
      const access = () => threads.checkVisibility(thread_id, visibility);
      return filterModes(whileVisible(entries, access), modes);
    },
  };
}

/**
 * Checks access before the first event of each run: the thread may be deleted, and its id reused by another
 * user.
 */
async function* whileVisible(
  entries: AsyncIterable<ThreadFrame>,
  access: () => Promise<'visible' | 'hidden' | 'missing'>,
): AsyncIterable<ThreadFrame> {
  let authorizedRun: string | undefined;
  for await (const entry of entries) {
    const found = entry.run_id === authorizedRun ? 'visible' : await access();
    if (found === 'hidden') return;
    // A deleted thread has no owner to check against.
    if (found === 'missing') continue;
    authorizedRun = entry.run_id;
    yield entry;
  }
}

async function* filterModes(
  entries: AsyncIterable<ThreadFrame>,
  modes: readonly ThreadStreamMode[],
): AsyncIterable<Frame> {
  for await (const entry of entries) {
    const frame = toClientFrame(entry);
    if (frame && modes.some((mode) => belongsTo(frame, mode))) yield frame;
  }
}

function toClientFrame({ seq, run_id, frame }: ThreadFrame): Frame | undefined {
  if (!isEnd(frame)) {
    const plain = plainFrame(frame);
    return plain && { ...plain, seq };
  }
  return { seq, event: 'metadata', data: JSON.stringify({ status: 'run_done', run_id }) };
}

function belongsTo({ event }: Frame, mode: ThreadStreamMode): boolean {
  if (mode === 'state_update') return event === STATE_UPDATE;
  return mode === 'lifecycle' ? event === 'metadata' : event !== STATE_UPDATE;
}

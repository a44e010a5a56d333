import type { Actor } from '../../auth/actor.ts';
import { authorize } from '../../auth/authorize.ts';
import { NotFound } from '../../core/errors.ts';
import {
  followThread,
  lastThreadSeq,
  type ThreadFollowSources,
  type ThreadFrame,
} from '../../events/follow-thread.ts';
import { type Frame, isEnd, plainFrame } from '../../events/frame.ts';
import type { ThreadStreamMode } from '../../schemas/thread-stream.ts';
import type { ThreadRepository } from '../../storage/threads/threads.ts';
import { STATE_UPDATE } from './thread-state.ts';

export interface ThreadStreamDeps {
  readonly threads: Pick<ThreadRepository, 'get'>;
  readonly sources: ThreadFollowSources;
}

export interface ThreadStreamOptions {
  readonly modes: readonly ThreadStreamMode[];
  /** The number of the last event that the client has seen (0: all that is kept), or only what comes from now on. */
  readonly after: number | 'now';
}

export type ThreadStreamService = ReturnType<typeof threadStreamService>;

/** Everything that happens on a thread, run after run (CONTRACT §5 "Thread stream"). */
export function threadStreamService({ threads, sources }: ThreadStreamDeps) {
  return {
    /** Goes on until abort; frames have the numbers of the thread's log. Throws `NotFound` before anything is sent. */
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
      // Before the reply begins: whatever happens once the client has an answer is sent.
      const end = await lastThreadSeq(sources, thread_id);
      const from = after === 'now' ? end : Math.min(after, end);
      return filterModes(followThread(sources, thread_id, from, signal), modes);
    },
  };
}

async function* filterModes(
  entries: AsyncIterable<ThreadFrame>,
  modes: readonly ThreadStreamMode[],
): AsyncIterable<Frame> {
  for await (const entry of entries) {
    const frame = toClientFrame(entry);
    if (modes.some((mode) => belongsTo(frame, mode))) yield frame;
  }
}

function toClientFrame({ seq, run_id, frame }: ThreadFrame): Frame {
  if (!isEnd(frame)) return { ...plainFrame(frame), seq };
  return { seq, event: 'metadata', data: JSON.stringify({ status: 'run_done', run_id }) };
}

function belongsTo({ event }: Frame, mode: ThreadStreamMode): boolean {
  if (mode === 'state_update') return event === STATE_UPDATE;
  return mode === 'lifecycle' ? event === 'metadata' : event !== STATE_UPDATE;
}

import type { Actor } from '../auth/actor.ts';
import { NotFound } from '../core/errors.ts';
import { follow, type Sources } from '../events/follow.ts';
import { type Frame, plainFrame } from '../events/frame.ts';
import type { Run } from '../schemas/runs.ts';
import type { StreamMode } from '../schemas/stream-mode.ts';
import type { RunRepository } from '../storage/runs.ts';
import type { ThreadRepository } from '../storage/threads.ts';
import { resultOf, resultOfThread } from './run-result.ts';
import { isFinal } from './transitions.ts';

export interface JoinOptions {
  /** The number of the last frame that the client has seen (0: all of them), or only what comes from now on. */
  readonly after: number | 'now';
  /** Only events of these modes, and then no `metadata` either (CONTRACT §5). */
  readonly modes?: readonly StreamMode[] | undefined;
}

export interface RunStreamDeps {
  readonly runs: RunRepository;
  readonly threads: ThreadRepository;
  readonly sources: Sources;
}

/** Following runs: as frames, or to their result. */
export function runStreams({ runs, threads, sources }: RunStreamDeps) {
  async function find(thread_id: string | undefined, run_id: string): Promise<Run> {
    const run = await runs.get(thread_id, run_id);
    if (!run) throw new NotFound('Run not found');
    return run;
  }

  return {
    /** Every frame from the first, for who made the run. */
    follow(run: Run, signal: AbortSignal): AsyncIterable<Frame> {
      return plain(follow(sources, run.run_id, 0, signal));
    },

    /** JSON text of the final values, the interrupt or the error (CONTRACT §4). */
    async result(run: Run, signal: AbortSignal): Promise<string> {
      const result = await resultOf(plain(follow(sources, run.run_id, 0, signal)));
      return result ?? resultOfThread(await threads.get(run.thread_id));
    },

    /** The result of a run in any moment of its life; a finished one answers with its thread's newest state. */
    async join(_actor: Actor, thread_id: string, run_id: string, signal: AbortSignal): Promise<string> {
      const run = await find(thread_id, run_id);
      if (isFinal(run.status)) return resultOfThread(await threads.get(thread_id));
      return this.result(run, signal);
    },

    /**
     * The frames of a run after a cursor, to its end; a run that is not resumable has only those to come.
     * Throws `NotFound` before anything is sent.
     */
    async joinStream(
      _actor: Actor,
      thread_id: string | undefined,
      run_id: string,
      { after, modes }: JoinOptions,
      signal: AbortSignal,
    ): Promise<AsyncIterable<Frame>> {
      const run = await find(thread_id, run_id);
      const last = await newest(sources, run_id);
      const seq = after === 'now' || run.kwargs.resumable !== true ? last : Math.min(after, last);
      const frames = plain(follow(sources, run_id, seq, signal));
      return modes ? only(frames, modes) : frames;
    },
  };
}

/** Frames of the newer protocol, for clients of the older one. */
async function* plain(frames: AsyncIterable<Frame>): AsyncIterable<Frame> {
  for await (const frame of frames) yield plainFrame(frame);
}

async function newest({ live, log }: Sources, run_id: string): Promise<number> {
  return live.get(run_id)?.last ?? (await log.lastSeq(run_id));
}

/** `error` always passes: a client must learn that the run failed. */
async function* only(frames: AsyncIterable<Frame>, modes: readonly StreamMode[]): AsyncIterable<Frame> {
  for await (const frame of frames) {
    if (frame.event === 'error' || modes.some((mode) => isOf(frame.event, mode))) yield frame;
  }
}

/** `messages` comes as `messages/partial` and so on, `messages-tuple` as `messages`; a namespace follows `|`. */
function isOf(event: string, mode: StreamMode): boolean {
  const [name = ''] = event.split('|');
  if (mode === 'messages') return name.startsWith('messages/');
  return name === (mode === 'messages-tuple' ? 'messages' : mode);
}

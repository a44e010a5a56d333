import type { Actor } from '../../auth/actor.ts';
import { authorize } from '../../auth/authorize.ts';
import { NotFound } from '../../core/errors.ts';
import { isObject } from '../../core/json.ts';
import { type FollowSources, follow } from '../../events/follow.ts';
import { type Frame, plainFrame } from '../../events/frame.ts';
import type { Run } from '../../schemas/runs.ts';
import type { StreamMode } from '../../schemas/stream-mode.ts';
import type { RunCheckpointRepository } from '../../storage/runs/log-positions.ts';
import type { RunRepository } from '../../storage/runs/runs.ts';
import type { ThreadRepository } from '../../storage/threads/threads.ts';
import { resultOf, resultOfThread } from './run-result.ts';
import { isFinal } from './transitions.ts';

export interface JoinOptions {
  /** The number of the last frame that the client has seen (0: all of them), or only what comes from now on. */
  readonly after: number | 'now';
  /** With all of them: those after this checkpoint only, when it is one of the run's (CONTRACT §2.3). */
  readonly checkpoint_id?: string | undefined;
  /** Only events of these modes, and then no `metadata` either (CONTRACT §5). */
  readonly modes?: readonly StreamMode[] | undefined;
  /** Only events of these graphs, without those of graphs below them. */
  readonly namespaces?: readonly string[] | undefined;
}

export interface RunStreamDeps {
  readonly runs: RunRepository;
  readonly threads: ThreadRepository;
  readonly sources: FollowSources;
  readonly runCheckpoints: Pick<RunCheckpointRepository, 'seqOf'>;
}

/** Following runs: as frames, or to their result. */
export function runStreams({ runs, threads, sources, runCheckpoints }: RunStreamDeps) {
  async function find(actor: Actor, thread_id: string | undefined, run_id: string): Promise<Run> {
    const visibility = await authorize(actor, 'threads:read', { thread_id, run_id });
    const run = await runs.get(thread_id, run_id, visibility);
    if (!run) throw new NotFound('Run not found');
    return run;
  }

  /** An id that the client has seen says more than a checkpoint. */
  async function startSeq({ thread_id, run_id }: Run, { after, checkpoint_id }: JoinOptions) {
    if (!checkpoint_id || (after !== 0 && after !== 'now')) return after;
    return (await runCheckpoints.seqOf(thread_id, run_id, checkpoint_id)) ?? 0;
  }

  return {
    /** Every frame from the first, for who made the run. */
    follow(run: Run, signal: AbortSignal, namespaces?: readonly string[]): AsyncIterable<Frame> {
      return filterFrames(withoutProtocolEvents(follow(sources, run.run_id, 0, signal)), { namespaces });
    },

    /** JSON text of the final values, the interrupt or the error (CONTRACT §4). */
    async result(run: Run, signal: AbortSignal): Promise<string> {
      const result = await resultOf(withoutProtocolEvents(follow(sources, run.run_id, 0, signal)));
      return result ?? resultOfThread(await threads.get(run.thread_id));
    },

    /** The result of a run in any moment of its life; a finished one answers with its thread's newest state. */
    async join(actor: Actor, thread_id: string, run_id: string, signal: AbortSignal): Promise<string> {
      const run = await find(actor, thread_id, run_id);
      if (isFinal(run.status)) return resultOfThread(await threads.get(thread_id));
      return this.result(run, signal);
    },

    /**
     * The frames of a run after a cursor, to its end; a run that is not resumable has only those to come.
     * Throws `NotFound` before anything is sent.
     */
    async joinStream(
      actor: Actor,
      thread_id: string | undefined,
      run_id: string,
      options: JoinOptions,
      signal: AbortSignal,
    ): Promise<AsyncIterable<Frame>> {
      const run = await find(actor, thread_id, run_id);
      const after = await startSeq(run, options);
      const last = await lastSeq(sources, run_id);
      const seq = after === 'now' || !run.kwargs.resumable ? last : Math.min(after, last);
      return filterFrames(withoutProtocolEvents(follow(sources, run_id, seq, signal)), options);
    },
  };
}

/** Frames of the newer protocol, for clients of the older one. */
async function* withoutProtocolEvents(frames: AsyncIterable<Frame>): AsyncIterable<Frame> {
  for await (const frame of frames) yield plainFrame(frame);
}

async function lastSeq({ live, log }: FollowSources, run_id: string): Promise<number> {
  return live.get(run_id)?.last ?? (await log.lastSeq(run_id));
}

/** What a client wants of a run's events; undefined is no condition. */
export interface FrameFilter {
  /** With modes there is no `metadata` either (CONTRACT §5). */
  readonly modes?: readonly StreamMode[] | undefined;
  readonly namespaces?: readonly string[] | undefined;
}

/** `error` always passes: a client must learn that the run failed. */
async function* filterFrames(
  frames: AsyncIterable<Frame>,
  { modes, namespaces }: FrameFilter,
): AsyncIterable<Frame> {
  const isWithin = namespaces ? namespaceFilter(namespaces) : () => true;
  const isOfMode = ({ event }: Frame) => !modes || modes.some((mode) => matchesMode(event, mode));
  for await (const frame of frames) {
    if (frame.event === 'error' || (isWithin(frame) && isOfMode(frame))) yield frame;
  }
}

/** `messages` comes as `messages/partial` and so on, `messages-tuple` as `messages`; a namespace follows `|`. */
function matchesMode(event: string, mode: StreamMode): boolean {
  const [name = ''] = event.split('|');
  if (mode === 'messages') return name.startsWith('messages/');
  return name === (mode === 'messages-tuple' ? 'messages' : mode);
}

/**
 * Tells whether a frame comes from one of these graphs themselves, not from a graph below them. `''` is the root graph,
 * `a:<task id>|b:<task id>` one inside it, `a|b` the same whichever its tasks. What belongs to the whole run passes.
 */
function namespaceFilter(namespaces: readonly string[]): (frame: Frame) => boolean {
  const wanted = new Set(namespaces);
  /** By message id: what is told of a message after its metadata has no place of its own. */
  const messageNamespaces = new Map<string, string>();

  function namespaceOf({ event, data }: Frame): string {
    const [name = '', ...segments] = event.split('|');
    if (segments.length > 0 || !name.startsWith('messages')) return segments.join('|');
    if (name === 'messages/metadata') return recordMetadata(JSON.parse(data));
    const [message, metadata] = JSON.parse(data) as [{ id?: string }, unknown];
    return name === 'messages' ? graphNamespace(metadata) : (messageNamespaces.get(message.id ?? '') ?? '');
  }

  function recordMetadata(payload: Record<string, { metadata?: unknown }>): string {
    const [[id, entry] = ['', {}]] = Object.entries(payload);
    const namespace = graphNamespace(entry.metadata);
    messageNamespaces.set(id, namespace);
    return namespace;
  }

  return (frame) => {
    if (frame.event === 'metadata') return true;
    const namespace = namespaceOf(frame);
    return wanted.has(namespace) || wanted.has(withoutTaskIds(namespace));
  };
}

/** The graph that holds the node which a message came from. */
function graphNamespace(metadata: unknown): string {
  const node = isObject(metadata) ? metadata['langgraph_checkpoint_ns'] : undefined;
  return typeof node === 'string' ? node.split('|').slice(0, -1).join('|') : '';
}

/** Without the ids of tasks. */
function withoutTaskIds(namespace: string): string {
  return namespace
    .split('|')
    .map((segment) => segment.split(':')[0])
    .join('|');
}

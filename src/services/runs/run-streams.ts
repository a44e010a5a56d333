import type { Actor } from '../../auth/actor.ts';
import { authorize } from '../../auth/authorize.ts';
import { NotFound } from '../../core/errors.ts';
import { isObject, toJson } from '../../core/json.ts';
import { type FollowSources, follow } from '../../events/follow.ts';
import { type Frame, PROTOCOL_EVENT, PROTOCOL_NOTE } from '../../events/frame.ts';
import type { Run } from '../../schemas/runs.ts';
import type { StreamMode } from '../../schemas/stream-mode.ts';
import type { RunCheckpointRepository } from '../../storage/runs/log-positions.ts';
import type { RunRepository } from '../../storage/runs/runs.ts';
import type { ThreadRepository } from '../../storage/threads/threads.ts';
import { resultOf, resultOfThread } from './run-result.ts';
import { isFinal } from './transitions.ts';

export interface JoinOptions {
  /** Sequence number of the last frame that the client has seen (0: replay all), or `now` for live frames only. */
  readonly after: number | 'now';
  /** Without a cursor in `after`: only frames after this checkpoint, if it is one of the run's (contract §2.3). */
  readonly checkpoint_id?: string | undefined;
  /** Only events of these modes, which excludes `metadata` (contract §5). */
  readonly modes?: readonly StreamMode[] | undefined;
  /** Only events of these graphs, without their subgraphs. */
  readonly namespaces?: readonly string[] | undefined;
}

export interface RunStreamDeps {
  readonly runs: RunRepository;
  readonly threads: ThreadRepository;
  readonly sources: FollowSources;
  readonly runCheckpoints: RunCheckpointRepository;
}

/** Follows runs: as frames, or to their result. */
export function runStreams({ runs, threads, sources, runCheckpoints }: RunStreamDeps) {
  async function find(actor: Actor, thread_id: string | undefined, run_id: string): Promise<Run> {
    const visibility = await authorize(actor, 'threads:read', { thread_id, run_id });
    const run = await runs.get(thread_id, run_id, visibility);
    if (!run) throw new NotFound('Run not found');
    return run;
  }

  function resultInLog({ run_id }: Run, signal: AbortSignal): Promise<string | undefined> {
    return resultOf(withoutProtocolEvents(follow(sources, run_id, 0, signal)));
  }

  /** A last event id is more precise than a checkpoint. */
  async function startSeq({ thread_id, run_id }: Run, { after, checkpoint_id }: JoinOptions) {
    if (!checkpoint_id || (after !== 0 && after !== 'now')) return after;
    return (await runCheckpoints.seqOf(thread_id, run_id, checkpoint_id)) ?? 0;
  }

  return {
    /** Every frame from the first, for the client that created the run. */
    follow(run: Run, signal: AbortSignal, namespaces?: readonly string[]): AsyncIterable<Frame> {
      return filterFrames(withoutProtocolEvents(follow(sources, run.run_id, 0, signal)), { namespaces });
    },

    /** JSON text of the final values, the interrupt or the error (contract §4). */
    async result(run: Run, signal: AbortSignal): Promise<string> {
      return (await resultInLog(run, signal)) ?? resultOfThread(await threads.get(run.thread_id));
    },

    /**
     * The same for a repeated request. Throws `NotFound` if neither the run's events nor its thread exist any
     * more.
     */
    async resultAgain(run: Run, signal: AbortSignal): Promise<string> {
      const result = await resultInLog(run, signal);
      if (result !== undefined) return result;
      const thread = await threads.get(run.thread_id);
      if (!thread) throw new NotFound('The result of this run is gone: its thread was deleted');
      return resultOfThread(thread);
    },

    /** Waits for the run's result; a finished run returns its thread's newest state. */
    async join(actor: Actor, thread_id: string, run_id: string, signal: AbortSignal): Promise<string> {
      const run = await find(actor, thread_id, run_id);
      if (isFinal(run.status)) return resultOfThread(await threads.get(thread_id));
      return this.result(run, signal);
    },

    /**
     * Frames of a run after a cursor, to its end; a run that is not resumable has only live frames. Throws `NotFound`
     * before the first frame.
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

/** Converts event streaming frames for clients of the older protocol. */
async function* withoutProtocolEvents(frames: AsyncIterable<Frame>): AsyncIterable<Frame> {
  for await (const frame of frames) {
    const plain = plainFrame(frame);
    if (plain) yield plain;
  }
}

/**
 * Converts a protocol frame to the format of the older streams (`data` alone); returns any other frame unchanged, and
 * `undefined` for one that those streams do not have.
 */
export function plainFrame(frame: Frame): Frame | undefined {
  if (frame.event.startsWith(PROTOCOL_NOTE)) return undefined;
  if (!frame.event.startsWith(PROTOCOL_EVENT)) return frame;
  const event = frame.event.slice(PROTOCOL_EVENT.length);
  const { data } = JSON.parse(frame.data) as { data: unknown };
  const [method, ...namespace] = event.split('|');
  const plain = method === 'lifecycle' ? plainLifecycle(namespace, data as LifecycleData) : data;
  return { seq: frame.seq, event, data: toJson(plain) };
}

interface LifecycleData {
  readonly event: string;
  readonly cause?: { readonly tool_call_id?: string };
}

/** As stream mode `lifecycle` has it. */
function plainLifecycle(namespace: readonly string[], { event, cause }: LifecycleData) {
  const { tool_call_id } = cause ?? {};
  return { event, namespace, ...(tool_call_id !== undefined && { tool_call_id }) };
}

async function lastSeq({ live, log }: FollowSources, run_id: string): Promise<number> {
  return live.get(run_id)?.last ?? (await log.lastSeq(run_id));
}

/** Conditions on a run's events; `undefined` matches all. */
export interface FrameFilter {
  /** Excludes `metadata` (contract §5). */
  readonly modes?: readonly StreamMode[] | undefined;
  readonly namespaces?: readonly string[] | undefined;
}

function filterFrames(frames: AsyncIterable<Frame>, filter: FrameFilter): AsyncIterable<Frame> {
  return filter.modes || filter.namespaces ? matchingFrames(frames, filter) : frames;
}

/** `error` always passes: a client must learn that the run failed. */
async function* matchingFrames(
  frames: AsyncIterable<Frame>,
  { modes, namespaces }: FrameFilter,
): AsyncIterable<Frame> {
  const isWithin = namespaces ? namespaceFilter(namespaces) : () => true;
  const isOfMode = ({ event }: Frame) => !modes || modes.some((mode) => matchesMode(event, mode));
  for await (const frame of frames) {
    if (frame.event === 'error' || (isWithin(frame) && isOfMode(frame))) yield frame;
  }
}

/** `messages` arrives as `messages/partial` etc., `messages-tuple` as `messages`; a namespace follows `|`. */
function matchesMode(event: string, mode: StreamMode): boolean {
  const [name = ''] = event.split('|');
  if (mode === 'messages') return name.startsWith('messages/');
  return name === (mode === 'messages-tuple' ? 'messages' : mode);
}

/**
 * Matches frames of exactly these graphs, not of their subgraphs. `''` is the root graph, `a:<task id>|b:<task id>` a
 * subgraph, `a|b` the same for any task. Frames of the whole run always match.
 */
function namespaceFilter(namespaces: readonly string[]): (frame: Frame) => boolean {
  const wanted = new Set(namespaces);
  /** By message id: after its metadata frame, a message's frames carry no namespace. */
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

/** Namespace of the graph whose node emitted the message. */
function graphNamespace(metadata: unknown): string {
  const node = isObject(metadata) ? metadata['langgraph_checkpoint_ns'] : undefined;
  return typeof node === 'string' ? node.split('|').slice(0, -1).join('|') : '';
}

function withoutTaskIds(namespace: string): string {
  return namespace
    .split('|')
    .map((segment) => segment.split(':')[0])
    .join('|');
}

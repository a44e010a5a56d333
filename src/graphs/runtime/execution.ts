import { toError } from '../../core/failure.ts';
import { after, type Timer } from '../../core/timers.ts';
import { Checkpointer } from '../checkpointer/checkpointer.ts';
import type { CheckpointEvent, GraphCall, GraphEvent } from '../graph.ts';
import { asInputError, withPublicData } from '../public-errors.ts';
import { callOptions, isLocalPregel, type RunnableGraph, withMemory } from '../runnable.ts';
import { toWire } from '../wire.ts';
import { CheckpointEvents } from './checkpoint-events.ts';
import { type CommandLibrary, isEmptyCommand, requirePending, toLangGraphCommand } from './command.ts';
import { pendingInterrupts } from './interrupts.ts';
import { type LangGraphEvent, ProtocolStream } from './protocol-stream.ts';
import { type LangGraphChunk, langGraphModes, StreamModes } from './stream-modes.ts';
import { TaskFailures } from './task-failures.ts';

/**
 * How long a cancelled graph may take to stop by itself. One that ignores its signal is left behind then: the lease
 * refuses its writes and the closed queue drops its events.
 */
const STOP_GRACE_MS = 500;

type Emit = (event: GraphEvent | CheckpointEvent) => void;

/** Executes the graph once and yields its events. Throws what the graph throws, and the signal's reason on abort. */
export async function* execute(
  graph: RunnableGraph,
  call: GraphCall,
  library: () => Promise<CommandLibrary>,
): AsyncGenerator<GraphEvent | CheckpointEvent, void> {
  call.signal.throwIfAborted();
  const abandoned = new AbortController();
  const storeFailure = storeFailureOf(call.memory.checkpointer);
  const stop = AbortSignal.any([call.signal, storeFailure]);
  const signal = AbortSignal.any([stop, abandoned.signal]);
  const queue = new EventQueue<GraphEvent | CheckpointEvent>();
  let grace: Timer | undefined;
  const onAbort = () => {
    grace = after(STOP_GRACE_MS, () => queue.fail(stop.reason));
  };
  stop.addEventListener('abort', onAbort, { once: true });

  let running = true;
  const emit: Emit = (event) => queue.push(event);
  // Owns the outcome of a graph that is left behind, too: the queue, closed by then, swallows it.
  runGraph(withMemory(graph, call.memory, call.protocol), call, library, signal, emit)
    .then(() => storeFailure.throwIfAborted())
    .then(
      () => queue.end(),
      (error) => queue.fail(stop.aborted ? stop.reason : toError(asInputError(error))),
    )
    .finally(() => {
      running = false;
    });
  try {
    yield* queue;
  } finally {
    grace?.[Symbol.dispose]();
    stop.removeEventListener('abort', onAbort);
    // The reader went away before the end.
    if (running) abandoned.abort();
  }
}

/** What the graph made cannot be stored: it is stopped, for nothing of what comes after would be stored either. */
function storeFailureOf(checkpointer: unknown): AbortSignal {
  return checkpointer instanceof Checkpointer ? checkpointer.storeFailure : new AbortController().signal;
}

async function runGraph(
  graph: RunnableGraph,
  call: GraphCall,
  library: () => Promise<CommandLibrary>,
  signal: AbortSignal,
  emit: Emit,
): Promise<void> {
  const input = await inputOf(graph, call, library);
  const checkpointEvents = new CheckpointEvents(call.checkpoint_events ? emit : () => {});
  if (call.protocol)
    return streamProtocol(graph, input, call, signal, new ProtocolStream(emit, checkpointEvents));
  const failures = new TaskFailures();
  const modes = new StreamModes(call, { failures, checkpointEvents, emit });
  const streamOptions = {
    ...call,
    checkpoint_events: call.checkpoint_events === true && isLocalPregel(graph),
  };
  const emitsTasks = call.stream_mode.some((mode) => mode === 'tasks' || mode === 'debug');
  const options = callOptions(
    graph,
    call,
    langGraphModes(streamOptions),
    signal,
    emitsTasks ? [failures] : [],
  );
  try {
    if (call.stream_mode.includes('events')) await streamEvents(graph, input, options, modes, emit);
    else for await (const chunk of await graph.stream(input, options)) modes.chunk(chunk as LangGraphChunk);
    checkpointEvents.flush();
  } catch (error) {
    if (!signal.aborted) modes.failed();
    throw error;
  }
}

/** Everything there is to tell: who follows the thread chooses. */
async function streamProtocol(
  graph: RunnableGraph,
  input: unknown,
  call: GraphCall,
  signal: AbortSignal,
  stream: ProtocolStream,
): Promise<void> {
  if (!graph.streamEvents)
    throw new TypeError('This graph has no streamEvents, which event streaming needs.');
  const events = await graph.streamEvents(input, { ...callOptions(graph, call, [], signal), version: 'v3' });
  for await (const event of events as AsyncIterable<LangGraphEvent>) {
    stream.event(event);
    releasePayload(event);
  }
  stream.end();
}

/**
 * LangGraph keeps a list of all events of a run until its end, for readers who come later; here is only one. The event
 * is a copy of LangGraph's own making, so that nobody else misses what was in it. Its messages and root states are in
 * further lists, which cannot be reached.
 */
function releasePayload(event: { params: LangGraphEvent['params'] }): void {
  const { namespace, timestamp } = event.params;
  event.params = { namespace, timestamp, data: undefined };
}

async function inputOf(
  graph: RunnableGraph,
  { input, command, config, memory, strict_resume }: GraphCall,
  library: () => Promise<CommandLibrary>,
): Promise<unknown> {
  if (command === null) return input ?? null;
  if (isEmptyCommand(command)) return null;
  const pending = () => pendingInterrupts(graph, { configurable: config.configurable }, memory.checkpointer);
  if (strict_resume) await requirePending(command, pending);
  return toLangGraphCommand(await library(), command, pending);
}

/**
 * Mode `events`: one execution tells everything. The graph's own stream arrives in it as events of the outermost run,
 * which are turned into the other modes and are not events for the client themselves.
 */
async function streamEvents(
  graph: RunnableGraph,
  input: unknown,
  options: Record<string, unknown>,
  modes: StreamModes,
  emit: (event: GraphEvent) => void,
): Promise<void> {
  if (!graph.streamEvents)
    throw new TypeError('This graph has no streamEvents, which stream mode "events" needs.');
  let root: unknown;
  for await (const event of await graph.streamEvents(input, { ...options, version: 'v2' })) {
    const { event: name, run_id, tags, data } = event as Record<string, unknown>;
    root ??= run_id;
    if (Array.isArray(tags) && tags.includes('langsmith:hidden')) continue;
    if (name === 'on_chain_stream' && run_id === root) modes.chunk((data as { chunk: LangGraphChunk }).chunk);
    else emit({ event: 'events', data: toWire(withPublicData(event)) });
  }
}

/**
 * Hands items from a source that is read eagerly to one reader that takes its time. LangGraph's own streams drop what
 * is still unread when the graph throws: the tokens just before an error would be lost to a slow reader.
 */
export class EventQueue<T> {
  #items: T[] = [];
  #ended = false;
  #failure: { readonly error: unknown } | undefined;
  #wake: (() => void) | undefined;

  /** Items that wait for the reader. */
  get length(): number {
    return this.#items.length;
  }

  /** After the end, and once nobody reads any more, the item is dropped: a source that cannot be stopped goes on. */
  push(item: T): void {
    if (this.#ended) return;
    this.#items.push(item);
    this.#wake?.();
  }

  /** The reader gets all items first. */
  end(): void {
    this.#ended = true;
    this.#wake?.();
  }

  /** The reader gets all items first, then this error. */
  fail(error: unknown): void {
    this.#failure ??= { error };
    this.end();
  }

  /** For one reader. The queue is closed when it stops reading. */
  async *[Symbol.asyncIterator](): AsyncGenerator<T, void> {
    try {
      while (true) {
        const items = this.#items;
        this.#items = [];
        yield* items;
        if (this.#items.length > 0) continue;
        if (this.#failure) throw this.#failure.error;
        if (this.#ended) return;
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
      }
    } finally {
      this.#items = [];
      this.#ended = true;
    }
  }
}

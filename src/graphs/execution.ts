import { asError } from '../core/failure.ts';
import { after, type Timer } from '../core/timers.ts';
import { waitingInterrupts } from './answered.ts';
import { callOptions } from './call-options.ts';
import { CheckpointNotices } from './checkpoint-notices.ts';
import { Checkpointer } from './checkpointer.ts';
import { type CommandLibrary, isEmptyCommand, libraryCommand, requireWaiting } from './command.ts';
import { EventQueue } from './event-queue.ts';
import type { CheckpointNotice, GraphCall, GraphEvent } from './graph.ts';
import { inputRefusal } from './input-refusal.ts';
import { type LibraryEvent, ProtocolStream } from './protocol-stream.ts';
import { withPublicData } from './public-errors.ts';
import { isBuiltHere, type RunnableGraph, withMemory } from './runnable.ts';
import { type LibraryChunk, libraryModes, StreamModes } from './stream-modes.ts';
import { TaskFailures } from './task-failures.ts';
import { toWire } from './wire.ts';

/**
 * How long a cancelled graph may take to stop by itself. One that ignores its signal is left behind then: the lease
 * refuses its writes and the closed queue drops its events.
 */
const STOP_GRACE_MS = 500;

type Emit = (event: GraphEvent | CheckpointNotice) => void;

/** Executes the graph once and yields its events. Throws what the graph throws, and the signal's reason on abort. */
export async function* execute(
  graph: RunnableGraph,
  call: GraphCall,
  library: () => Promise<CommandLibrary>,
): AsyncGenerator<GraphEvent | CheckpointNotice, void> {
  call.signal.throwIfAborted();
  const abandoned = new AbortController();
  const refused = refusalOf(call.memory.checkpointer);
  const stop = AbortSignal.any([call.signal, refused]);
  const signal = AbortSignal.any([stop, abandoned.signal]);
  const queue = new EventQueue<GraphEvent | CheckpointNotice>();
  let grace: Timer | undefined;
  const onAbort = () => {
    grace = after(STOP_GRACE_MS, () => queue.fail(stop.reason));
  };
  stop.addEventListener('abort', onAbort, { once: true });

  let running = true;
  const emit: Emit = (event) => queue.push(event);
  // Owns the outcome of a graph that is left behind, too: the queue, closed by then, swallows it.
  run(withMemory(graph, call.memory, call.protocol), call, library, signal, emit)
    .then(() => refused.throwIfAborted())
    .then(
      () => queue.end(),
      (error) => queue.fail(stop.aborted ? stop.reason : asError(inputRefusal(error))),
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
function refusalOf(checkpointer: unknown): AbortSignal {
  return checkpointer instanceof Checkpointer ? checkpointer.refused : new AbortController().signal;
}

async function run(
  graph: RunnableGraph,
  call: GraphCall,
  library: () => Promise<CommandLibrary>,
  signal: AbortSignal,
  emit: Emit,
): Promise<void> {
  const input = await inputOf(graph, call, library);
  const notices = new CheckpointNotices(call.notices ? emit : () => {});
  if (call.protocol) return streamProtocol(graph, input, call, signal, new ProtocolStream(emit, notices));
  const failures = new TaskFailures();
  const modes = new StreamModes(call, { failures, notices, emit });
  const asked = { ...call, notices: call.notices === true && isBuiltHere(graph) };
  const tellsTasks = call.stream_mode.some((mode) => mode === 'tasks' || mode === 'debug');
  const options = callOptions(graph, call, libraryModes(asked), signal, tellsTasks ? [failures] : []);
  try {
    if (call.stream_mode.includes('events')) await streamEvents(graph, input, options, modes, emit);
    else for await (const chunk of await graph.stream(input, options)) modes.chunk(chunk as LibraryChunk);
    notices.tell();
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
  for await (const event of events as AsyncIterable<LibraryEvent>) {
    stream.event(event);
    letGo(event);
  }
  stream.end();
}

/**
 * LangGraph keeps a list of all events of a run until its end, for readers who come later; here is only one. The event
 * is a copy of LangGraph's own making, so that nobody else misses what was in it. Its messages and root states are in
 * further lists, which cannot be reached.
 */
function letGo(event: { params: LibraryEvent['params'] }): void {
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
  const waiting = () => waitingInterrupts(graph, { configurable: config.configurable }, memory.checkpointer);
  if (strict_resume) await requireWaiting(command, waiting);
  return libraryCommand(await library(), command, waiting);
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
    if (name === 'on_chain_stream' && run_id === root) modes.chunk((data as { chunk: LibraryChunk }).chunk);
    else emit({ event: 'events', data: toWire(withPublicData(event)) });
  }
}

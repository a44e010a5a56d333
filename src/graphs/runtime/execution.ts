import { EventQueue } from '../../core/event-queue.ts';
import { toError } from '../../core/failure.ts';
import { after, type Timer } from '../../core/timers.ts';
import { Checkpointer } from '../checkpointer/checkpointer.ts';
import type { CheckpointEvent, GraphCall, GraphEvent } from '../graph.ts';
import { asInputError, withPublicData } from '../public-errors.ts';
import { callOptions, isLocalPregel, type RunnableGraph, withMemory } from '../runnable.ts';
import { recordedNodesOf, recordingSteps } from '../steps/recorded-graph.ts';
import type { StepRecorder } from '../steps/recorder.ts';
import { toWire } from '../wire.ts';
import { CheckpointEvents } from './checkpoint-events.ts';
import { type CommandLibrary, isEmptyCommand, requirePending, toLangGraphCommand } from './command.ts';
import { pendingInterrupts } from './interrupts.ts';
import { type LangGraphEvent, ProtocolStream } from './protocol-stream.ts';
import { type LangGraphChunk, langGraphModes, StreamModes } from './stream-modes.ts';
import { TaskFailures } from './task-failures.ts';

/**
 * Grace period of a cancelled graph, ms. One that ignores its signal is then abandoned: the lease fences off its
 * writes, and the closed queue drops its events.
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
  const checkpointer =
    call.memory.checkpointer instanceof Checkpointer ? call.memory.checkpointer : undefined;
  // The graph is stopped: nothing after a value that cannot be stored would be stored either.
  const storeFailure = checkpointer?.storeFailure ?? new AbortController().signal;
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
  // Also owns the outcome of an abandoned graph: the queue, closed by then, ignores it.
  const steps = checkpointer?.steps;
  const run = () => runGraph(executable(graph, call, steps), call, library, signal, emit);
  (steps ? recordingSteps(steps, run) : run())
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
    checkpointer?.endSteps();
    // The reader left before the end.
    if (running) abandoned.abort();
  }
}

/** The graph with the memory of the run, and with nodes that are recorded. */
function executable(graph: RunnableGraph, call: GraphCall, steps: StepRecorder | undefined): RunnableGraph {
  const prepared = withMemory(graph, call.memory, call.protocol);
  const nodes = steps && recordedNodesOf(graph);
  return nodes ? Object.assign(prepared, { nodes }) : prepared;
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
    if (!signal.aborted && !call.drain?.aborted) modes.failed();
    throw error;
  }
}

/** Emits everything: each follower of the thread filters for itself. */
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
 * LangGraph retains all events of a run until its end, for late readers; here there is only one reader. The event is
 * LangGraph's own copy, so that clearing it affects nothing else. Its messages and root states are in further lists,
 * which cannot be reached.
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
 * Mode `events`: one execution yields everything. The graph's own stream arrives as events of the outermost run, which
 * are converted to the other modes and are not sent as events themselves.
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

import { withCronOfRun } from '../../core/cron-of-run.ts';
import { yieldToEventLoop } from '../../core/event-loop.ts';
import { EventQueue } from '../../core/event-queue.ts';
import { toError } from '../../core/failure.ts';
import { after, type Timer } from '../../core/timers.ts';
import { Checkpointer } from '../checkpointer/checkpointer.ts';
import type { CheckpointEvent, GraphCall, GraphEvent, RunSpan } from '../graph.ts';
import { asInputError, withPublicData } from '../public-errors.ts';
import { isLocalPregel, type RunnableGraph } from '../runnable.ts';
import type { ActiveSpans } from '../steps/active-spans.ts';
import { recordingSteps } from '../steps/recorded-graph.ts';
import { toWire } from '../wire.ts';
import { CheckpointEvents } from './checkpoint-events.ts';
import { type CommandLibrary, isEmptyCommand, requirePending, toLangGraphCommand } from './command.ts';
import { continuationOf, stopAt } from './continued-run.ts';
import { ToolTasks } from './event-places.ts';
import { pendingInterrupts } from './interrupts.ts';
import { type LangGraphEvent, ProtocolStream } from './protocol-stream.ts';
import { asRefusedAnswer } from './resume-refused.ts';
import { type LangGraphChunk, langGraphModes, StreamModes } from './stream-modes.ts';
import { SubgraphLifecycle } from './subgraph-lifecycle.ts';
import { TaskFailures } from './task-failures.ts';

/**
 * Grace period of a cancelled graph, ms. One that ignores its signal is then abandoned: the lease fences off its
 * writes, and the closed queue drops its events.
 */
const STOP_GRACE_MS = 500;

/** Libraries of the project. */
export interface ExecutionLibraries {
  readonly library: () => Promise<CommandLibrary>;
  readonly spans: (span: RunSpan) => Promise<ActiveSpans | undefined>;
}

type Emit = (event: GraphEvent | CheckpointEvent) => void;

/**
 * Executes a graph that has the memory of the run, once, and yields its events. Throws what the graph throws, and the
 * signal's reason on abort.
 */
export async function* execute(
  graph: RunnableGraph,
  call: GraphCall,
  { library, spans }: ExecutionLibraries,
): AsyncGenerator<GraphEvent | CheckpointEvent, void> {
  call.signal.throwIfAborted();
  // LangGraph leaves listeners on the signal of a run. Node keeps a signal of `AbortSignal.any` as long as it has one.
  const halted = new AbortController();
  const checkpointer =
    call.memory.checkpointer instanceof Checkpointer ? call.memory.checkpointer : undefined;
  // The graph is stopped: nothing after a value that cannot be stored would be stored either.
  const storeFailure = checkpointer?.storeFailure ?? new AbortController().signal;
  const stop = AbortSignal.any([call.signal, storeFailure]);
  if (stop.aborted) halted.abort(stop.reason);
  const queue = new EventQueue<GraphEvent | CheckpointEvent>();
  let grace: Timer | undefined;
  const onAbort = () => {
    halted.abort(stop.reason);
    grace = after(STOP_GRACE_MS, () => queue.fail(stop.reason));
  };
  stop.addEventListener('abort', onAbort, { once: true });

  let running = true;
  const emit: Emit = (event) => queue.push(event);
  // Also owns the outcome of an abandoned graph: the queue, closed by then, ignores it.
  const steps = checkpointer?.steps;
  const { cron_id } = call.config.configurable;
  const run = () => withCronOfRun(cron_id, () => runGraph(graph, call, library, halted.signal, emit));
  const recorded = (active?: ActiveSpans) => (steps ? recordingSteps(steps, active, run) : run());
  (call.span ? withSpans(spans(call.span), recorded) : recorded())
    .then(() => storeFailure.throwIfAborted())
    .then(
      () => queue.end(),
      (error) => queue.fail(stop.aborted ? stop.reason : toError(asInputError(asRefusedAnswer(error)))),
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
    if (running) halted.abort();
  }
}

async function withSpans<T>(
  found: Promise<ActiveSpans | undefined>,
  act: (spans?: ActiveSpans) => Promise<T>,
): Promise<T> {
  const spans = await found;
  return spans ? spans.inAttempt(() => act(spans)) : act();
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
  const { isBeforeInput: skipsState, breakpoint } = await continuationOf(graph, call);
  if (breakpoint) stopAt(graph, breakpoint);
  if (call.protocol)
    return streamProtocol(graph, input, call, signal, new ProtocolStream(emit, checkpointEvents, skipsState));
  const failures = new TaskFailures();
  const tools = new ToolTasks();
  const lifecycle = call.stream_mode.includes('lifecycle') ? new SubgraphLifecycle(emit) : undefined;
  const modes = new StreamModes(call, { failures, tools, checkpointEvents, lifecycle, emit, skipsState });
  const streamOptions = {
    ...call,
    checkpoint_events: call.checkpoint_events === true && isLocalPregel(graph),
  };
  const emitsTasks = call.stream_mode.some((mode) => mode === 'tasks' || mode === 'debug');
  const handlers = [
    ...(emitsTasks ? [failures] : []),
    ...(call.stream_mode.includes('tools') ? [tools] : []),
    ...(lifecycle ? [lifecycle] : []),
  ];
  const options = callOptions(graph, call, langGraphModes(streamOptions), signal, handlers);
  try {
    if (call.stream_mode.includes('events')) await streamEvents(graph, input, options, modes, emit);
    else for await (const chunk of await graph.stream(input, options)) modes.chunk(chunk as LangGraphChunk);
    modes.stopped();
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
  await stream.read(events as AsyncIterable<LangGraphEvent>);
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

/**
 * Options of a call of LangGraph's `stream` and `streamEvents`. Only defined ones: `undefined` would override what the
 * graph itself is bound to, such as its recursion limit (engine §6). Subgraphs are always requested: without them,
 * LangGraph forwards their custom events as if they were the graph's own.
 */
function callOptions(
  graph: RunnableGraph,
  call: GraphCall,
  modes: string[],
  signal: AbortSignal,
  callbacks: readonly object[] = [],
): Record<string, unknown> {
  const { config, context, interrupt_before, interrupt_after, drain } = call;
  const { run_id } = config.configurable;
  const { durability, handlers } = yieldingOptions(graph, call);
  const all = [...handlers, ...callbacks];
  return definedOnly({
    configurable: { ...config.configurable },
    context: context ?? undefined,
    tags: config.tags,
    metadata: config.metadata,
    recursionLimit: config.recursion_limit,
    maxConcurrency: config.max_concurrency,
    runName: config.run_name,
    runId: typeof run_id === 'string' ? run_id : undefined,
    interruptBefore: interrupt_before ?? undefined,
    interruptAfter: interrupt_after ?? undefined,
    durability,
    callbacks: all.length > 0 ? all : undefined,
    streamMode: modes,
    subgraphs: true,
    signal,
    control: drain && drainControl(drain),
  });
}

/** LangGraph's `RunControl`, by shape. */
function drainControl(drain: AbortSignal) {
  let own: string | undefined;
  return {
    requestDrain(reason = 'shutdown'): void {
      own ??= reason;
    },
    get drainRequested(): boolean {
      return own !== undefined || drain.aborted;
    },
    get drainReason(): string | undefined {
      return own ?? (drain.aborted ? 'limit' : undefined);
    },
  };
}

/**
 * Makes a graph that never waits yield to the event loop between its steps. With `sync` LangGraph awaits the
 * checkpointer at each step; ours decides what may be committed later, and returns immediately with `async`. Without
 * checkpoints an awaited callback handler yields; for all runs it would cost 0.1 ms per step.
 */
function yieldingOptions(
  graph: RunnableGraph,
  { durability }: GraphCall,
): { durability: GraphCall['durability']; handlers: readonly object[] } {
  if (!isLocalPregel(graph)) return { durability, handlers: [] };
  return durability === 'exit'
    ? { durability, handlers: [new YieldHandler()] }
    : { durability: 'sync', handlers: [] };
}

/** A LangChain callback handler. */
class YieldHandler {
  readonly name = 'YieldHandler';
  readonly awaitHandlers = true;
  readonly handleChainStart = () => yieldToEventLoop();
}

function definedOnly(options: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
}

import { yieldToEventLoop } from '../core/event-loop.ts';
import type { GraphCall } from './graph.ts';

/**
 * LangGraph.js by shape. The user's project brings its own copy of the library, so that nothing here may depend on a
 * class of ours (ENGINE §6), and an object of another library with these methods will do.
 */
export interface RunnableGraph {
  stream(input: unknown, options: object): Promise<AsyncIterable<unknown>>;
  getState(config: object, options?: object): Promise<Snapshot>;
  /** Version v3 returns a promise, v2 the iterable itself. */
  streamEvents?(input: unknown, options: object): AsyncIterable<unknown> | Promise<AsyncIterable<unknown>>;
  /** A new graph of the same class, private fields included. */
  withConfig?(config: object): RunnableGraph;
  getStateHistory?(config: object, options?: object): AsyncIterable<Snapshot>;
  updateState?(config: object, values: unknown, asNode?: string): Promise<SnapshotConfig>;
  bulkUpdateState?(config: object, supersteps: object[]): Promise<SnapshotConfig>;
  getGraphAsync?(config: object): Promise<{ toJSON(): unknown }>;
  getSubgraphsAsync?(namespace?: string, recurse?: boolean): AsyncIterable<[string, RunnableGraph]>;
}

export interface SnapshotConfig {
  readonly configurable?: Record<string, unknown> | undefined;
}

/** LangGraph's `StateSnapshot`. Without `createdAt` there is no checkpoint. */
export interface Snapshot {
  readonly values: unknown;
  readonly next: readonly string[];
  readonly tasks: readonly SnapshotTask[];
  readonly config: SnapshotConfig;
  readonly metadata?: Record<string, unknown> | undefined;
  readonly createdAt?: string | undefined;
  readonly parentConfig?: SnapshotConfig | undefined;
}

export interface SnapshotTask {
  readonly id: string;
  readonly name: string;
  readonly path?: readonly unknown[];
  readonly error?: unknown;
  readonly interrupts?: readonly unknown[];
  /** Config of the subgraph's state, or the state itself if it was requested. */
  readonly state?: Snapshot | SnapshotConfig;
  readonly result?: unknown;
}

export function isRunnableGraph(value: unknown): value is RunnableGraph {
  if (typeof value !== 'object' || value === null) return false;
  const graph = value as Record<string, unknown>;
  return (
    typeof graph.stream === 'function' &&
    (graph.lg_is_pregel === true || typeof graph.getState === 'function')
  );
}

/**
 * A clone of the graph with this memory: LangGraph ignores a checkpointer given as a call option, and the user's object
 * is shared by all runs. A graph that is not built like LangGraph's own is used as it is: it may have private fields,
 * which a clone would lack, and it stores its state elsewhere. `reconstruct`: stream v3 requires private methods, which
 * only a constructed graph has; that costs more than copying the fields.
 */
export function withMemory(
  graph: RunnableGraph,
  memory: { checkpointer: unknown; store: unknown },
  reconstruct = false,
): RunnableGraph {
  if (!isLocalPregel(graph)) return graph;
  const { checkpointer, store } = memory;
  if (reconstruct && graph.withConfig) return Object.assign(graph.withConfig({}), { checkpointer, store });
  return Object.assign(Object.create(Object.getPrototypeOf(graph)), graph, { checkpointer, store });
}

/** The compiled-in memory that `withMemory` replaces. A checkpointer may also be a flag, which does not count. */
export function overriddenMemory(graph: RunnableGraph): ('checkpointer' | 'store')[] {
  if (!isLocalPregel(graph)) return [];
  const own = graph as { checkpointer?: unknown; store?: unknown };
  return (['checkpointer', 'store'] as const).filter(
    (name) => typeof own[name] === 'object' && own[name] !== null,
  );
}

/** True if built like LangGraph's own graphs; false for a remote graph, which makes its checkpoints elsewhere. */
export function isLocalPregel(graph: RunnableGraph): boolean {
  return 'nodes' in graph && 'channels' in graph;
}

/**
 * Options of a call of LangGraph's `stream` and `streamEvents`. Only defined ones: `undefined` would override what the
 * graph itself is bound to, such as its recursion limit (ENGINE §6). Subgraphs are always requested: without them,
 * LangGraph forwards their custom events as if they were the graph's own.
 */
export function callOptions(
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
      return own ?? (drain.aborted ? 'budget' : undefined);
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

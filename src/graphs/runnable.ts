import { yieldToEventLoop } from '../core/event-loop.ts';
import type { GraphCall } from './graph.ts';

/**
 * LangGraph.js by shape. The user's project brings its own copy of the library, so nothing here may depend on a class
 * of ours (ENGINE §6), and an object of another library with these methods will do as well.
 */
export interface RunnableGraph {
  stream(input: unknown, options: object): Promise<AsyncIterable<unknown>>;
  getState(config: object, options?: object): Promise<Snapshot>;
  /** Version v3 is promised, v2 comes at once. */
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
  /** Where a subgraph keeps its state, or that state itself when it was asked for. */
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
 * The graph with this memory, as a clone: LangGraph ignores a checkpointer given as a call option, and the user's
 * object is shared by all runs. What is not built as LangGraph's own graphs are may have private fields, which a clone
 * would lack, and keeps its memory elsewhere: it is used as it is. `whole`: LangGraph's own newer stream needs its
 * private methods too, which only a graph that was constructed has; that costs more than a copy of its fields.
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

/** What `withMemory` takes out of the graph. A checkpointer may also be a flag, which is nobody's memory. */
export function overriddenMemory(graph: RunnableGraph): ('checkpointer' | 'store')[] {
  if (!isLocalPregel(graph)) return [];
  const own = graph as { checkpointer?: unknown; store?: unknown };
  return (['checkpointer', 'store'] as const).filter(
    (name) => typeof own[name] === 'object' && own[name] !== null,
  );
}

/** Built as LangGraph's own graphs are; not, say, a graph that is elsewhere, which makes its checkpoints there. */
export function isLocalPregel(graph: RunnableGraph): boolean {
  return 'nodes' in graph && 'channels' in graph;
}

/**
 * What LangGraph's `stream` and `streamEvents` take for a call. Only what was asked for is in it: an `undefined` would
 * replace what the graph itself is bound to, such as its recursion limit (ENGINE §6). Subgraphs are always asked for,
 * because without them LangGraph passes on their custom events as if they were the graph's own.
 */
export function callOptions(
  graph: RunnableGraph,
  call: GraphCall,
  modes: string[],
  signal: AbortSignal,
  callbacks: readonly object[] = [],
): Record<string, unknown> {
  const { config, context, interrupt_before, interrupt_after } = call;
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
  });
}

/**
 * How the event loop gets its turn between the steps of a graph that waits for nothing. With `sync` LangGraph waits for
 * the checkpointer at each step; ours knows by itself what may be committed later, and is done at once with `async`.
 * Without checkpoints a handler that LangGraph waits for does it; for all runs it would cost a tenth of a ms a step.
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

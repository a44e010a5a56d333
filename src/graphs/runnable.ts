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
  whole = false,
): RunnableGraph {
  if (!isBuiltHere(graph)) return graph;
  const { checkpointer, store } = memory;
  if (whole && graph.withConfig) return Object.assign(graph.withConfig({}), { checkpointer, store });
  return Object.assign(Object.create(Object.getPrototypeOf(graph)), graph, { checkpointer, store });
}

/** What `withMemory` takes out of the graph. A checkpointer may also be a flag, which is nobody's memory. */
export function replacedMemory(graph: RunnableGraph): ('checkpointer' | 'store')[] {
  if (!isBuiltHere(graph)) return [];
  const own = graph as { checkpointer?: unknown; store?: unknown };
  return (['checkpointer', 'store'] as const).filter(
    (name) => typeof own[name] === 'object' && own[name] !== null,
  );
}

/** Built as LangGraph's own graphs are; not, say, a graph that is elsewhere, which makes its checkpoints there. */
export function isBuiltHere(graph: RunnableGraph): boolean {
  return 'nodes' in graph && 'channels' in graph;
}
